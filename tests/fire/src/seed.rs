use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Chance that can be repeated (SplitMix64).
#[derive(Clone, Debug)]
pub struct Seed(u64);

impl Seed {
    /// From `UNDER_FIRE_SEED`, else from the clock. Printed either way.
    pub fn new() -> Self {
        let given = std::env::var("UNDER_FIRE_SEED").ok().and_then(|text| text.parse().ok());
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seed = given.unwrap_or(u64::from(since.subsec_nanos()) ^ since.as_secs());
        println!("UNDER_FIRE_SEED={seed}");
        Seed(seed)
    }

    /// A seed for one part, so that the parts do not disturb each other's order.
    pub fn part(&mut self) -> Self {
        Seed(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`, and zero where that is zero.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next().checked_rem(end).unwrap_or_default()
    }

    /// True this often in a hundred.
    pub fn percent(&mut self, often: u64) -> bool {
        self.below(100) < often
    }

    /// Up to this many milliseconds.
    pub fn millis(&mut self, most: u64) -> Duration {
        Duration::from_millis(self.below(most + 1))
    }
}

impl Default for Seed {
    fn default() -> Self {
        Self::new()
    }
}
