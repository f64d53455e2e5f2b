//! Floating-point numbers as other languages write them: the shortest digits that read back as the same number.

/// The shortest digits of a finite number, and the power of ten of the first of them.
pub(super) struct Shortest {
    digits: String,
    exponent: i32,
}

impl Shortest {
    /// Of a number's size; its sign does not count.
    pub(super) fn of(number: f64) -> Self {
        let number = number.abs();
        let shortest = Self::read(&format!("{number:e}"));
        // Where two texts of that length are equally near, Rust takes the greater one, and Python and JavaScript the
        // even one, as does Rust where it is told how many digits to write.
        let even = format!("{number:.*e}", shortest.digits.len() - 1);
        if even.parse() == Ok(number) { Self::read(&even) } else { shortest }
    }

    fn read(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        Self { digits: mantissa.replace('.', ""), exponent: exponent.parse().unwrap_or(0) }
    }

    pub(super) fn exponent(&self) -> i32 {
        self.exponent
    }

    /// Without an exponent: `1234.5`, `0.00012`, `100`.
    pub(super) fn plain(&self) -> String {
        let digits = &self.digits;
        match usize::try_from(self.exponent) {
            Err(_) => {
                let zeros = usize::try_from(-1 - self.exponent).unwrap_or(0);
                format!("0.{}{digits}", "0".repeat(zeros))
            }
            Ok(exponent) if digits.len() <= exponent + 1 => {
                format!("{digits}{}", "0".repeat(exponent + 1 - digits.len()))
            }
            Ok(exponent) => {
                let (whole, fraction) = digits.split_at(exponent + 1);
                format!("{whole}.{fraction}")
            }
        }
    }

    /// The digits before an exponent: `1.5`, `1`.
    pub(super) fn mantissa(&self) -> String {
        let (first, rest) = self.digits.split_at(1);
        if rest.is_empty() { first.to_owned() } else { format!("{first}.{rest}") }
    }
}

/// Reads a JSON number as a floating-point number: infinite beyond its range, zero below it.
pub(super) fn float(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}
