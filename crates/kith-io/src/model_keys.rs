//! Keys of a model file, read one by one, with errors that name the key, what was found and what was wanted.

use std::path::{Path, PathBuf};

use kith::model::Strength;
use serde_json::{Map, Value};

/// What is wrong with a model file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}: {message}", file.display())]
pub struct ModelFileError {
    file: PathBuf,
    message: String,
}

impl ModelFileError {
    pub(crate) fn new(file: &Path, message: String) -> Self {
        Self { file: file.to_owned(), message }
    }
}

/// The keys of one table; what has not been taken at the end is unknown.
pub(crate) struct Keys<'t> {
    table: &'t Map<String, Value>,
    prefix: String,
    taken: Vec<String>,
}

impl<'t> Keys<'t> {
    pub fn of(value: &'t Value, prefix: &str) -> Result<Self, String> {
        let Value::Object(table) = value else {
            return Err(format!("{}: found {value}, wanted a table", prefix.trim_end_matches('.')));
        };
        Ok(Self { table, prefix: prefix.to_owned(), taken: Vec::new() })
    }

    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    pub fn take(&mut self, key: &str) -> Option<&'t Value> {
        self.taken.push(key.to_owned());
        self.table.get(key)
    }

    pub fn number(&mut self, key: &str, out: &mut f64) -> Result<(), String> {
        match self.take(key) {
            // A value that has no default must be there.
            None if out.is_nan() => Err(format!("{}{key}: missing, wanted a number", self.prefix)),
            None => Ok(()),
            Some(value) => {
                let wrong = || format!("{}{key}: found {value}, wanted a number", self.prefix);
                *out = value.as_f64().ok_or_else(wrong)?;
                Ok(())
            }
        }
    }

    pub fn numbers(&mut self, key: &str) -> Result<Vec<f64>, String> {
        let value = self.take(key).unwrap_or(&Value::Null);
        let numbers = value.as_array().map(|list| list.iter().map(Value::as_f64).collect());
        match numbers {
            Some(Some(numbers)) => Ok(numbers),
            _ => Err(format!("{}{key}: found {value}, wanted a list of numbers", self.prefix)),
        }
    }

    pub fn choice<T: Copy>(&mut self, key: &str, choices: &[(&str, T)], out: &mut T) -> Result<(), String> {
        let Some(value) = self.take(key) else { return Ok(()) };
        match choices.iter().find(|(name, _)| value.as_str() == Some(name)) {
            Some(&(_, choice)) => {
                *out = choice;
                Ok(())
            }
            None => {
                let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
                Err(format!("{}{key}: found {value}, wanted {}", self.prefix, names.join(", ")))
            }
        }
    }

    pub fn strength(&mut self, key: &str, out: &mut Strength) -> Result<(), String> {
        match self.take(key) {
            Some(value) => Self::read_strength(&format!("{}{key}", self.prefix), value, out),
            None => Ok(()),
        }
    }

    pub fn read_strength(key: &str, value: &Value, out: &mut Strength) -> Result<(), String> {
        if let Some(number) = value.as_f64() {
            *out = Strength::Fixed(number);
            return Ok(());
        }
        if !value.is_object() {
            return Err(format!("{key}: found {value}, wanted a number or {{shape, rate}}"));
        }
        let mut keys = Keys::of(value, &format!("{key}."))?;
        let (mut shape, mut rate) = (f64::NAN, f64::NAN);
        keys.number("shape", &mut shape)?;
        keys.number("rate", &mut rate)?;
        keys.finish()?;
        *out = Strength::Learnt { shape, rate };
        Ok(())
    }

    pub fn finish(self) -> Result<(), String> {
        match self.table.keys().find(|key| !self.taken.contains(key)) {
            None => Ok(()),
            Some(key) => {
                let known = self.taken.join(", ");
                Err(format!("{}{key}: unknown key, wanted one of {known}", self.prefix))
            }
        }
    }
}
