//! MODEL.toml: the model as people write it, and as it stands in the header of the draws.
//!
//! Both are one tree of keys. Every key is optional, unknown keys are refused, integers are numbers.

use std::collections::BTreeMap;
use std::path::Path;

use kith::belief::{Kind, Settings};
use kith::model::face::FaceKind;
use kith::model::{
    ContextMode, ContextModel, ErrorRate, EvidenceModel, FaceModel, FaceUpdate, Full, FullPrior,
    IdentityModel, Isotropic, LocalConcentration, Model, NameModel, NameUpdate, Strangers, Strength,
};
use serde_json::{Value, json};

use crate::model_keys::{Keys, ModelFileError};

/// Reads the tree of keys of a MODEL.toml; whether they are known is not asked yet.
pub fn read_tree(path: &Path) -> Result<Value, ModelFileError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| ModelFileError::new(path, format!("cannot be read: {error}")))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
        let place = line.map_or(String::new(), |line| format!("line {line}: "));
        ModelFileError::new(path, format!("{place}{}", error.message().replace('\n', "; ")))
    })?;
    Ok(serde_json::to_value(table).expect("a table of TOML is a tree of JSON"))
}

/// Reads a MODEL.toml.
pub fn read(path: &Path) -> Result<Settings, ModelFileError> {
    let tree = read_tree(path)?;
    from_tree(&tree).map_err(|message| ModelFileError::new(path, message))
}

/// Reads the tree of keys of a header.
pub fn from_tree(tree: &Value) -> Result<Settings, String> {
    let mut settings = Settings::default();
    let mut keys = Keys::of(tree, "")?;
    if let Some(table) = keys.take("context") {
        read_context(&mut settings, Keys::of(table, "context.")?)?;
    }
    if let Some(table) = keys.take("identity") {
        read_identity(&mut settings, Keys::of(table, "identity.")?)?;
    }
    if let Some(table) = keys.take("frame") {
        let mut frame = Keys::of(table, "frame.")?;
        frame.number("repeat", &mut settings.model.repeat)?;
        frame.finish()?;
    }
    if let Some(table) = keys.take("face") {
        read_face(&mut settings, Keys::of(table, "face.")?)?;
    }
    if let Some(table) = keys.take("name") {
        read_name(&mut settings, Keys::of(table, "name.")?)?;
    }
    if let Some(table) = keys.take("evidence") {
        let mut evidence = Keys::of(table, "evidence.")?;
        read_evidence(&mut settings, &mut evidence)?;
        evidence.finish()?;
    }
    keys.finish()?;
    Ok(settings)
}

/// One rate for every kind, or one for each.
fn read_evidence(settings: &mut Settings, keys: &mut Keys<'_>) -> Result<(), String> {
    let evidence = &mut settings.model.evidence;
    if keys.has("error_rate") {
        let mut e = f64::NAN;
        keys.number("error_rate", &mut e)?;
        *evidence = EvidenceModel::all(e);
    }
    keys.number("same", &mut evidence.same)?;
    keys.number("different", &mut evidence.different)?;
    keys.number("not", &mut evidence.not)?;
    keys.number("is", &mut evidence.is)?;
    keys.number("odd", &mut evidence.odd)
}

fn read_context(settings: &mut Settings, mut keys: Keys<'_>) -> Result<(), String> {
    let context = &mut settings.model.context;
    let mut count = 3.0;
    keys.number("count", &mut count)?;
    if count.fract() != 0.0 || count < 1.0 {
        return Err(format!("context.count: found {count}, wanted a whole number of at least 1"));
    }
    let latent = ContextMode::Latent { count: count as usize };
    keys.choice(
        "mode",
        &[
            ("given", ContextMode::Given),
            ("latent", latent),
            ("unbounded", ContextMode::Unbounded),
            ("none", ContextMode::None),
        ],
        &mut context.mode,
    )?;
    keys.strength("concentration", &mut context.concentration)?;
    keys.finish()
}

fn read_identity(settings: &mut Settings, mut keys: Keys<'_>) -> Result<(), String> {
    let identity = &mut settings.model.identity;
    keys.strength("global_concentration", &mut identity.global_concentration)?;
    if let Some(value) = keys.take("local_concentration") {
        identity.local_concentration = local_concentration(value)?;
    }
    let strangers = [("learnt", Some(Strangers::Learnt)), ("expected", Some(Strangers::Expected))];
    keys.choice("strangers", &strangers, &mut settings.strangers)?;
    keys.finish()
}

fn read_face(settings: &mut Settings, mut keys: Keys<'_>) -> Result<(), String> {
    let updates = [("collapsed", FaceUpdate::Collapsed), ("explicit", FaceUpdate::Explicit)];
    keys.choice("update", &updates, &mut settings.model.face.update)?;
    // What only the paper's face model has asks for it.
    if ISOTROPIC_KEYS[1..].iter().any(|key| keys.has(key))
        || settings.model.face.update == FaceUpdate::Explicit
    {
        settings.kind = Some(Kind::Isotropic);
    }
    let kinds = [("isotropic", Some(Kind::Isotropic)), ("full", Some(Kind::Full))];
    keys.choice("kind", &kinds, &mut settings.kind)?;
    settings.prior = match settings.kind {
        Some(Kind::Isotropic) => read_isotropic(&mut keys)?.map(FaceKind::Isotropic),
        Some(Kind::Full) | None => read_full(&mut keys)?.map(FaceKind::Full),
    };
    keys.finish()
}

fn read_name(settings: &mut Settings, mut keys: Keys<'_>) -> Result<(), String> {
    let name = &mut settings.model.name;
    keys.strength("concentration", &mut name.concentration)?;
    if let Some(value) = keys.take("error_rate") {
        name.error_rate = match value.as_f64() {
            Some(number) => ErrorRate::Fixed(number),
            None => {
                let mut keys = Keys::of(value, "name.error_rate.")?;
                let (mut alpha, mut beta) = (f64::NAN, f64::NAN);
                keys.number("alpha", &mut alpha)?;
                keys.number("beta", &mut beta)?;
                keys.finish()?;
                ErrorRate::Learnt { alpha, beta }
            }
        };
    }
    keys.number("mean_length", &mut name.base.mean_length)?;
    keys.number("alphabet_size", &mut name.base.alphabet_size)?;
    let updates = [("exact", NameUpdate::Exact), ("paper", NameUpdate::Paper)];
    keys.choice("update", &updates, &mut name.update)?;
    keys.finish()
}

const ISOTROPIC_KEYS: [&str; 4] = ["mean", "kappa", "shape", "rate"];

/// m_0, kappa_0, a_0 and b_0: all or none.
fn read_isotropic(keys: &mut Keys<'_>) -> Result<Option<Isotropic>, String> {
    if !all_or_none(keys, &ISOTROPIC_KEYS)? {
        return Ok(None);
    }
    let mut prior = unresolved();
    prior.mean = keys.numbers("mean")?;
    keys.number("kappa", &mut prior.kappa)?;
    keys.number("shape", &mut prior.shape)?;
    keys.number("rate", &mut prior.rate)?;
    Ok(Some(prior))
}

/// m, A, psi, nu, the power and the spread of scales: all or none. w, kappa and the
/// length came later; draws without them have none.
fn read_full(keys: &mut Keys<'_>) -> Result<Option<Full>, String> {
    if !all_or_none(keys, &["mean", "transform", "between", "freedom", "power", "spread"])? {
        return Ok(None);
    }
    let (mean, transform, between) =
        (keys.numbers("mean")?, keys.numbers("transform")?, keys.numbers("between")?);
    let [mut freedom, mut power, mut spread] = [f64::NAN; 3];
    keys.number("freedom", &mut freedom)?;
    keys.number("power", &mut power)?;
    keys.number("spread", &mut spread)?;
    let (mut common, mut tail, mut length, mut lookalikes) = (0.0, f64::INFINITY, f64::INFINITY, 0.0);
    keys.number("common", &mut common)?;
    keys.number("lookalikes", &mut lookalikes)?;
    keys.number("length", &mut length)?;
    keys.number("tail", &mut tail)?;
    Ok(Some(Full::new(FullPrior {
        length: length.is_finite().then_some(length),
        mean,
        transform,
        between,
        freedom,
        common,
        tail,
        power,
        spread,
        lookalikes,
    })))
}

/// Whether these keys are there; some of them alone are refused.
fn all_or_none(keys: &Keys<'_>, wanted: &[&str]) -> Result<bool, String> {
    let given: Vec<&str> = wanted.iter().copied().filter(|key| keys.has(key)).collect();
    if given.is_empty() || given.len() == wanted.len() {
        return Ok(!given.is_empty());
    }
    let (found, wanted) = (given.join(", "), wanted.join(", "));
    Err(format!("face: found {found} alone, wanted {wanted} together, or none of them"))
}

/// A number, a prior shared or not, or a table of contexts.
fn local_concentration(value: &Value) -> Result<LocalConcentration, String> {
    const KEY: &str = "identity.local_concentration";
    let Value::Object(table) = value else {
        let mut strength = Strength::Fixed(f64::NAN);
        Keys::read_strength(KEY, value, &mut strength)?;
        return Ok(LocalConcentration::Shared(strength));
    };
    if table.contains_key("shape") || table.contains_key("rate") {
        let mut table = table.clone();
        let is_shared = match table.remove("shared") {
            None => true,
            Some(Value::Bool(is_shared)) => is_shared,
            Some(other) => return Err(format!("{KEY}.shared: found {other}, wanted true or false")),
        };
        let mut strength = Strength::Fixed(f64::NAN);
        Keys::read_strength(KEY, &Value::Object(table), &mut strength)?;
        return Ok(if is_shared {
            LocalConcentration::Shared(strength)
        } else {
            LocalConcentration::Own(strength)
        });
    }
    let mut each = BTreeMap::new();
    for (context, value) in table {
        let mut strength = Strength::Fixed(f64::NAN);
        Keys::read_strength(&format!("{KEY}.{context}"), value, &mut strength)?;
        each.insert(context.clone(), strength);
    }
    if each.is_empty() {
        return Err(format!("{KEY}: found an empty table, wanted a number, {{shape, rate}} or contexts"));
    }
    Ok(LocalConcentration::Named(each))
}

/// Stands in for a face prior until one is known.
fn unresolved() -> Isotropic {
    Isotropic { mean: Vec::new(), kappa: f64::NAN, shape: f64::NAN, rate: f64::NAN }
}

fn strength_tree(strength: Strength) -> Value {
    match strength {
        Strength::Fixed(value) => json!(value),
        Strength::Learnt { shape, rate } => json!({"shape": shape, "rate": rate}),
    }
}

fn context_tree(context: &ContextModel) -> Value {
    let mode = match context.mode {
        ContextMode::None => "none",
        ContextMode::Given => "given",
        ContextMode::Latent { .. } => "latent",
        ContextMode::Unbounded => "unbounded",
    };
    let mut tree = json!({"mode": mode, "concentration": strength_tree(context.concentration)});
    if let ContextMode::Latent { count } = context.mode {
        tree["count"] = json!(count);
    }
    tree
}

fn identity_tree(identity: &IdentityModel) -> Value {
    let local = match &identity.local_concentration {
        LocalConcentration::Shared(Strength::Fixed(value))
        | LocalConcentration::Own(Strength::Fixed(value)) => {
            json!(value)
        }
        LocalConcentration::Shared(Strength::Learnt { shape, rate }) => {
            json!({"shape": shape, "rate": rate, "shared": true})
        }
        LocalConcentration::Own(Strength::Learnt { shape, rate }) => {
            json!({"shape": shape, "rate": rate, "shared": false})
        }
        LocalConcentration::Named(each) => {
            each.iter().map(|(name, &s)| (name.clone(), strength_tree(s))).collect()
        }
    };
    let strangers = match identity.strangers {
        Strangers::Expected => "expected",
        Strangers::Learnt => "learnt",
    };
    json!({
        "global_concentration": strength_tree(identity.global_concentration),
        "local_concentration": local, "strangers": strangers,
    })
}

fn face_tree(face: &FaceModel) -> Value {
    let update = match face.update {
        FaceUpdate::Collapsed => "collapsed",
        FaceUpdate::Explicit => "explicit",
    };
    match &face.kind {
        FaceKind::Isotropic(prior) => json!({
            "kind": "isotropic", "update": update,
            "mean": prior.mean, "kappa": prior.kappa, "shape": prior.shape, "rate": prior.rate,
        }),
        FaceKind::Full(full) => {
            let prior = full.prior();
            let mut face = json!({
                "kind": "full", "update": update,
                "mean": prior.mean, "transform": prior.transform, "between": prior.between,
                "freedom": prior.freedom, "common": prior.common, "power": prior.power,
                "spread": prior.spread,
                "lookalikes": prior.lookalikes,
            });
            if prior.tail.is_finite() {
                face["tail"] = json!(prior.tail);
            }
            if let Some(length) = prior.length {
                face["length"] = json!(length);
            }
            face
        }
    }
}

fn name_tree(name: &NameModel) -> Value {
    json!({
        "concentration": strength_tree(name.concentration),
        "error_rate": match name.error_rate {
            ErrorRate::Fixed(value) => json!(value),
            ErrorRate::Learnt { alpha, beta } => json!({"alpha": alpha, "beta": beta}),
        },
        "mean_length": name.base.mean_length,
        "alphabet_size": name.base.alphabet_size,
        "update": match name.update {
            NameUpdate::Exact => "exact",
            NameUpdate::Paper => "paper",
        },
    })
}

/// The tree of keys of a model, every value resolved.
pub fn to_tree(model: &Model) -> Value {
    let evidence = &model.evidence;
    json!({
        "context": context_tree(&model.context),
        "identity": identity_tree(&model.identity),
        "frame": {"repeat": model.repeat},
        "evidence": {
            "same": evidence.same, "different": evidence.different, "not": evidence.not, "is": evidence.is,
            "odd": evidence.odd,
        },
        "face": face_tree(&model.face),
        "name": name_tree(&model.name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kith::data::Dataset;

    fn parse(text: &str) -> Result<Settings, String> {
        let table: toml::Table = text.parse().unwrap();
        from_tree(&serde_json::to_value(table).unwrap())
    }

    const FULL: &str = r#"
        [context]
        mode = "latent"
        count = 4
        concentration = {shape = 1, rate = 2}
        [identity]
        global_concentration = 1
        local_concentration = {shape = 1.0, rate = 0.5, shared = false}
        strangers = "learnt"
        [frame]
        repeat = 0.5
        [face]
        kind = "isotropic"
        mean = [0, 1.5]
        kappa = 0.3
        shape = 2
        rate = 0.5
        update = "explicit"
        [name]
        concentration = {shape = 1.0, rate = 0.01}
        error_rate = {alpha = 1, beta = 19}
        mean_length = 5
        alphabet_size = 26
        update = "paper"
        [evidence]
        error_rate = 0.02
        not = 0.03
    "#;

    #[test]
    fn a_model_survives_the_way_to_a_header_and_back() {
        let data = Dataset::empty(2).unwrap();
        let model = parse(FULL).unwrap().resolve(&data, None, &mut |_| ()).unwrap();
        assert_eq!(model.context.mode, ContextMode::Latent { count: 4 });
        assert_eq!(model.face.dimension(), 2);
        assert_eq!(model.evidence, EvidenceModel { not: 0.03, ..EvidenceModel::all(0.02) });
        let again = from_tree(&to_tree(&model)).unwrap();
        let again = again.resolve(&data, None, &mut |_| ()).unwrap();
        assert_eq!(model, again);
    }

    #[test]
    fn contexts_may_have_their_own_concentrations() {
        let text = "[identity]\nlocal_concentration = {home = 1.0, work = {shape = 1, rate = 2}}";
        let settings = parse(text).unwrap();
        let LocalConcentration::Named(each) = settings.model.identity.local_concentration else { panic!() };
        assert_eq!(each["home"], Strength::Fixed(1.0));
        assert_eq!(each["work"], Strength::Learnt { shape: 1.0, rate: 2.0 });
    }

    #[test]
    fn mistakes_are_named_by_their_key() {
        for (text, wanted) in [
            ("[contxt]\nmode = \"given\"", "contxt: unknown key"),
            ("[context]\nmood = 1", "context.mood: unknown key"),
            ("[context]\nmode = \"gven\"", "context.mode: found \"gven\", wanted given, latent"),
            ("[face]\nkappa = 1.0", "face: found kappa alone"),
            ("[face]\nkind = \"fll\"", "face.kind: found \"fll\", wanted isotropic, full"),
            ("[name]\nerror_rate = \"x\"", "name.error_rate: found \"x\", wanted a table"),
            (
                "[identity]\nglobal_concentration = {shape = 1.0}",
                "identity.global_concentration.rate: missing",
            ),
            ("[frame]\nrepeat = \"no\"", "frame.repeat: found \"no\", wanted a number"),
            ("frame = 3", "frame: found 3, wanted a table"),
            ("[evidence]\nerror = 0.1", "evidence.error: unknown key, wanted one of"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(wanted), "{error}");
        }
    }
}
