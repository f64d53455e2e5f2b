//! Measuring several works in turn.

use std::time::{Duration, Instant};

/// A quotient's numerator and denominator are measured in turn, so that both meet the same disturbances.
pub(crate) struct Turns {
    /// Of each kind of work, the time that each turn took.
    times: Vec<Vec<Duration>>,
}

impl Turns {
    pub(crate) fn measure(works: &mut [&mut dyn FnMut()]) -> Self {
        let start = Instant::now();
        let mut times = vec![Vec::new(); works.len()];
        while times[0].len() < 30 || (start.elapsed() < Duration::from_secs(1) && times[0].len() < 20_000) {
            for (work, times) in works.iter_mut().zip(&mut times) {
                let start = Instant::now();
                work();
                times.push(start.elapsed());
            }
        }
        Self { times }
    }

    fn best(&self, work: usize) -> f64 {
        self.times[work].iter().min().map_or(f64::NAN, Duration::as_secs_f64)
    }

    fn median(&self, work: usize) -> f64 {
        let mut times = self.times[work].clone();
        times.sort();
        times[times.len() / 2].as_secs_f64()
    }

    /// What the first two works cost together, by the best turns.
    pub(crate) fn baseline(&self) -> Duration {
        Duration::from_secs_f64(self.best(0) + self.best(1))
    }

    /// What the work costs beside the first two together: by the best turns, and by the median ones.
    pub(crate) fn ratios(&self, work: usize) -> (f64, f64) {
        let best = self.best(work) / (self.best(0) + self.best(1));
        (best, self.median(work) / (self.median(0) + self.median(1)))
    }
}
