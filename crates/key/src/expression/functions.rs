//! Which functions an expression can call, and with how many arguments.

macro_rules! functions {
    ($($variant:ident $name:literal $min:literal..$max:literal $reference:literal)*) => {
        /// A function that an expression can call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Function { $($variant),* }

        impl Function {
            const ALL: &'static [Function] = &[$(Function::$variant),*];

            /// The name by which expressions call it.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Function::$variant => $name),* }
            }

            /// The fewest and the most arguments it takes.
            pub(crate) fn arity(self) -> (usize, usize) {
                match self { $(Function::$variant => ($min, $max)),* }
            }

            /// Which argument, from 1, is an expression (`&a`); 0 if none.
            pub(crate) fn reference(self) -> usize {
                match self { $(Function::$variant => $reference),* }
            }
        }
    };
}

functions! {
    Abs "abs" 1..1 0
    Avg "avg" 1..1 0
    Ceil "ceil" 1..1 0
    Contains "contains" 2..2 0
    EndsWith "ends_with" 2..2 0
    Floor "floor" 1..1 0
    Header "header" 2..2 0
    Join "join" 2..2 0
    Keys "keys" 1..1 0
    Length "length" 1..1 0
    Map "map" 2..2 1
    Max "max" 1..1 0
    MaxBy "max_by" 2..2 2
    Merge "merge" 0..255 0
    Min "min" 1..1 0
    MinBy "min_by" 2..2 2
    NotNull "not_null" 1..255 0
    PowertoolsBase64 "powertools_base64" 1..1 0
    PowertoolsBase64Gzip "powertools_base64_gzip" 1..1 0
    PowertoolsJson "powertools_json" 1..1 0
    Reverse "reverse" 1..1 0
    Sort "sort" 1..1 0
    SortBy "sort_by" 2..2 2
    StartsWith "starts_with" 2..2 0
    Sum "sum" 1..1 0
    ToArray "to_array" 1..1 0
    ToNumber "to_number" 1..1 0
    ToString "to_string" 1..1 0
    Type "type" 1..1 0
    Values "values" 1..1 0
}

impl Function {
    pub(crate) fn by_name(name: &str) -> Option<Function> {
        Self::ALL.iter().copied().find(|function| function.name() == name)
    }

    /// The function that was probably meant: at most two letters differ.
    pub(crate) fn similar(name: &str) -> Option<&'static str> {
        let name = name.to_ascii_lowercase();
        Self::ALL
            .iter()
            .map(|function| (distance(&name, function.name()), function.name()))
            .filter(|(distance, known)| *distance <= 2 && *distance < known.len().min(name.len()))
            .min()
            .map(|(_, known)| known)
    }
}

/// How many letters have to be added, dropped or changed.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
