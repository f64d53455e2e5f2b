//! Whether module and name say which function it is.

/// Where a function is whose module and name say which one it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    Module,
    /// A method of this type, which is in the same module and has no parameters.
    Type(&'a str),
}

/// The place that `here`, the type name of a function inside of the function, tells; `None` for any other.
/// Type names are not guaranteed, so they decide only whether the plain name will do, and are no part of it.
pub(crate) fn plain_place<'a>(
    here: &'a str,
    module: &str,
    function: &str,
    self_type: Option<&str>,
) -> Option<Place<'a>> {
    let at = here.strip_prefix(module)?.strip_prefix("::")?;
    let mut inner = at.rsplit_once("::")?.0;
    // Its own body, and what other attributes put around it.
    while let Some(outer) = inner.strip_suffix("::{{closure}}") {
        inner = outer;
    }
    if inner == function {
        return Some(Place::Module);
    }
    let of = without_lifetimes(inner.strip_suffix(function)?.strip_suffix("::")?);
    let plain = !of.is_empty() && of.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_self = self_type.map(without_lifetimes) == Some(format!("{module}::{of}").as_str());
    (plain && is_self).then_some(Place::Type(of))
}

/// `Type` of `Type<'_>`: lifetimes are no parameters that make another function.
fn without_lifetimes(path: &str) -> &str {
    let Some((plain, parameters)) = path.strip_suffix('>').and_then(|path| path.split_once('<')) else {
        return path;
    };
    if parameters.split(',').all(|parameter| parameter.trim().starts_with('\'')) { plain } else { path }
}

pub(crate) fn without_closures(here: &str) -> String {
    let path = here.rsplit_once("::").map_or(here, |(path, _)| path);
    path.replace("::{{closure}}", "")
}

#[cfg(test)]
mod tests {
    use super::{Place, plain_place};

    #[test]
    fn only_what_module_and_name_tell_apart_has_a_name_by_default() {
        let at = |path: &str| format!("{path}::{{{{closure}}}}::__here");
        let free = at("app::pay::send");
        let method = at("app::pay::Card::send");
        fn place<'a>(here: &'a str, self_type: Option<&str>) -> Option<Place<'a>> {
            plain_place(here, "app::pay", "send", self_type)
        }
        assert_eq!(place(&free, None), Some(Place::Module));
        assert_eq!(place(&method, Some("app::pay::Card")), Some(Place::Type("Card")));
        let instrumented = "app::pay::send::{{closure}}::{{closure}}::__here";
        assert_eq!(place(instrumented, None), Some(Place::Module));
        let borrowing = at("app::pay::Desk<'_>::send");
        assert_eq!(place(&borrowing, Some("app::pay::Desk<'_>")), Some(Place::Type("Desk")));
        for (path, self_type) in [
            ("app::pay::outer::{{closure}}::send", None),
            ("app::pay::outer::send", None),
            ("app::pay::Card::send", None),
            ("app::pay::Charge::send", Some("app::pay::Card")),
            ("app::pay::Card<_>::send", Some("app::pay::Card<u8>")),
            ("<app::pay::Card as app::pay::Charge>::send", Some("app::pay::Card")),
            ("app::pay::<impl app::Card>::send", Some("app::Card")),
            ("app::other::send", None),
        ] {
            let here = at(path);
            assert_eq!(place(&here, self_type), None, "{path}");
        }
    }
}
