//! Functions on numbers, and the order of numbers and strings.

use std::cmp::Ordering;

use super::Value;
use super::functions::Call;
use super::lists::array;
use crate::expression::functions::Function;
use crate::expression::select::SelectError;
use crate::json::node::Node;
use crate::json::scan::Scanner;
use crate::json::text::Text;
use crate::number::Decimal;

/// Something that has an order among its like.
#[derive(PartialEq, Eq)]
enum Rank<'a> {
    Number(Decimal),
    Text(Text<'a>),
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text<'_> {}

impl Rank<'_> {
    /// `None` for a number and a string.
    fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Rank::Number(a), Rank::Number(b)) => Some(a.cmp(b)),
            (Rank::Text(a), Rank::Text(b)) => Some(a.as_str().cmp(b.as_str())),
            _ => None,
        }
    }
}

impl<'a> Call<'_, 'a> {
    pub(super) fn arithmetic(&self, function: Function) -> Value<'a> {
        let result = match function {
            Function::Sum => self.sum()?,
            Function::Avg => {
                let count = self.array(0)?.len();
                if count == 0 {
                    return Ok(Node::Null);
                }
                self.sum()?.divided_by(count as u64)
            }
            _ => {
                let number = self.decimal(0, self.argument(0), "a number")?;
                match function {
                    Function::Abs => number.abs(),
                    Function::Ceil => number.ceil(),
                    _ => number.floor(),
                }
            }
        };
        Ok(Node::Number(Text::from(result.to_text())))
    }

    fn decimal(
        &self,
        position: usize,
        node: &Node<'a>,
        expected: &'static str,
    ) -> Result<Decimal, SelectError> {
        match node.open()? {
            Node::Number(text) => Ok(Decimal::parse(text.as_str())),
            other => self.wrong_type(position, expected, &other),
        }
    }

    fn sum(&self) -> Result<Decimal, SelectError> {
        let mut sum = Decimal::zero();
        for element in self.array(0)?.iter() {
            let number = self.decimal(0, element, "an array of numbers")?;
            let Some(next) = sum.plus(&number) else {
                return Err(SelectError::OutOfRange { call: self.text() });
            };
            self.evaluation.spend(next.digit_count() / 16)?;
            sum = next;
        }
        Ok(sum)
    }

    /// A string that is a JSON number becomes one; anything else but a number becomes null.
    pub(super) fn to_number(&self) -> Value<'a> {
        Ok(match self.argument(0) {
            number @ Node::Number(_) => number.clone(),
            Node::String(text) => {
                let mut scanner = Scanner::new(text.as_str());
                match scanner.number() {
                    Ok(_) if scanner.pos == text.as_str().len() => Node::Number(text.clone()),
                    _ => Node::Null,
                }
            }
            _ => Node::Null,
        })
    }

    fn rank(&self, position: usize, node: &Node<'a>) -> Result<Rank<'a>, SelectError> {
        match node.open()? {
            Node::Number(text) => Ok(Rank::Number(Decimal::parse(text.as_str()))),
            Node::String(text) => Ok(Rank::Text(text)),
            other => self.wrong_type(position, "numbers only or strings only", &other),
        }
    }

    /// `max`, `min` and `sort`.
    pub(super) fn ordered(&self, function: Function) -> Value<'a> {
        let elements = self.array(0)?;
        let ranked = elements.iter().map(|element| Ok((self.rank(0, element)?, element.clone())));
        self.choose(function, 0, ranked.collect::<Result<_, SelectError>>()?)
    }

    /// `max_by`, `min_by` and `sort_by`.
    pub(super) fn ordered_by(&self, function: Function) -> Value<'a> {
        let elements = self.array(0)?;
        let ranked =
            elements.iter().map(|element| Ok((self.rank(1, &self.apply(1, element)?)?, element.clone())));
        self.choose(function, 1, ranked.collect::<Result<_, SelectError>>()?)
    }

    fn choose(
        &self,
        function: Function,
        position: usize,
        mut ranked: Vec<(Rank<'a>, Node<'a>)>,
    ) -> Value<'a> {
        let mixed = ranked.iter().find(|(rank, _)| rank.compare(&ranked[0].0).is_none());
        if let Some((rank, _)) = mixed {
            let found = match rank {
                Rank::Number(_) => Node::Number(Text::borrowed("0")),
                Rank::Text(text) => Node::String(text.clone()),
            };
            return self.wrong_type(position, "numbers only or strings only", &found);
        }
        self.evaluation.spend(ranked.len().saturating_mul(ranked.len().ilog2_or_zero()))?;
        // Stable, so equal elements keep their order, and the first of equal extremes is taken.
        ranked.sort_by(|(a, _), (b, _)| a.compare(b).unwrap_or(Ordering::Equal));
        Ok(match function {
            Function::Sort | Function::SortBy => {
                array(ranked.into_iter().map(|(_, element)| element).collect())
            }
            Function::Min | Function::MinBy => {
                ranked.into_iter().next().map_or(Node::Null, |(_, element)| element)
            }
            _ => {
                let best = ranked.iter().map(|(rank, _)| rank).next_back();
                let first = ranked.iter().find(|(rank, _)| Some(rank) == best);
                first.map_or(Node::Null, |(_, element)| element.clone())
            }
        })
    }
}

trait Log {
    fn ilog2_or_zero(self) -> usize;
}

impl Log for usize {
    fn ilog2_or_zero(self) -> usize {
        self.checked_ilog2().unwrap_or(0) as usize
    }
}
