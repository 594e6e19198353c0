//! Answers and draws as Python takes them.

use kith::chain::Draw;
use kith::predict::Answer;
use numpy::IntoPyArray;
use numpy::ndarray::Array2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

use crate::faces::refused;

/// Acquainted, familiar, stranger, every name by its number, no known name.
pub fn row_of(answer: &Answer, width: usize) -> Vec<f64> {
    let mut row = vec![0.0; width];
    row[..3].copy_from_slice(&[answer.acquainted, answer.familiar, answer.stranger]);
    answer.names.iter().for_each(|name| row[3 + name.label.index()] = name.p);
    row[width - 1] = answer.unknown_name;
    row
}

/// Everything that an answer says; faces by their rows.
pub fn to_json(answer: &Answer, names: &[String]) -> Value {
    let told = |name: &kith::predict::NameShare| json!([names[name.label.index()], name.p, name.hdi]);
    let faces: Vec<usize> = answer.identity.faces.iter().map(|face| face.index()).collect();
    json!({
        "acquainted": answer.acquainted, "familiar": answer.familiar, "stranger": answer.stranger,
        "names": answer.names.iter().map(told).collect::<Vec<_>>(), "unknown_name": answer.unknown_name,
        "identity_p": answer.identity.p, "identity_faces": faces, "context": answer.context,
    })
}

/// One array per quantity, a row per draw.
pub fn draws<'py>(py: Python<'py>, draws: &[Draw]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let whole =
        |of: &dyn Fn(&Draw) -> u64| -> Vec<i64> { draws.iter().map(|draw| of(draw) as i64).collect() };
    let real = |of: &dyn Fn(&Draw) -> f64| -> Vec<f64> { draws.iter().map(of).collect() };
    let numbers = |of: &dyn Fn(&Draw) -> Vec<i32>| {
        let rows: Vec<Vec<i32>> = draws.iter().map(of).collect();
        Array2::from_shape_vec((rows.len(), rows.first().map_or(0, Vec::len)), rows.concat()).map_err(refused)
    };
    let signed = |of: &[u32]| of.iter().map(|&number| number as i32).collect::<Vec<i32>>();
    dict.set_item("chain", whole(&|draw| u64::from(draw.chain)).into_pyarray(py))?;
    dict.set_item("sweep", whole(&|draw| draw.sweep).into_pyarray(py))?;
    dict.set_item("n_identities", whole(&|draw| draw.n_people() as u64).into_pyarray(py))?;
    dict.set_item("identities", numbers(&|draw| signed(&draw.partition()))?.into_pyarray(py))?;
    dict.set_item("contexts", numbers(&|draw| signed(&draw.contexts))?.into_pyarray(py))?;
    dict.set_item("lp", real(&|draw| draw.globals.ln_joint).into_pyarray(py))?;
    dict.set_item("unseen", real(&|draw| draw.globals.unseen).into_pyarray(py))?;
    dict.set_item("alpha_0", real(&|draw| draw.globals.global_concentration).into_pyarray(py))?;
    dict.set_item("gamma_0", real(&|draw| draw.globals.context_concentration).into_pyarray(py))?;
    dict.set_item("lambda", real(&|draw| draw.globals.name_concentration).into_pyarray(py))?;
    dict.set_item("epsilon", real(&|draw| draw.globals.error_rate).into_pyarray(py))?;
    // Where contexts are sampled, draws have different numbers of them.
    let most = draws.iter().map(|draw| draw.globals.local_concentration.len()).max().unwrap_or(0);
    let mut alpha = Array2::from_elem((draws.len(), most), f64::NAN);
    for (mut row, draw) in alpha.rows_mut().into_iter().zip(draws) {
        row.iter_mut().zip(&draw.globals.local_concentration).for_each(|(to, from)| *to = *from);
    }
    dict.set_item("alpha", alpha.into_pyarray(py))?;
    Ok(dict)
}
