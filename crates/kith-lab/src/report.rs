//! What an experiment found, ready to be written: a summary, tables, figures, and one page that needs nothing
//! else.

use std::fmt::Write;

use serde_json::Value;

use crate::figures::Figure;

/// What an experiment found.
#[derive(Clone, Debug)]
pub struct Findings {
    /// What the page is called.
    pub title: &'static str,
    /// What was done, for somebody who does not know the paper.
    pub about: String,
    /// The contents of `summary.json`.
    pub summary: Value,
    /// What the paper says beside what was measured.
    pub comparison: Table,
    /// All numbers.
    pub tables: Vec<Table>,
    /// The figures.
    pub figures: Vec<Figure>,
    /// What a reader should know about these numbers.
    pub notes: Vec<String>,
}

/// Rows of text under a header.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its file name without ending.
    pub name: &'static str,
    /// What it shows.
    pub caption: String,
    /// The columns.
    pub header: Vec<&'static str>,
    /// The rows, each as long as the header.
    pub rows: Vec<Vec<String>>,
}

/// More rows than this are for the file, not for the page.
const MOST_ROWS: usize = 60;

const STYLE: &str = "\
:root{color-scheme:light}body{margin:0;background:#fbfaf7;color:#222;font:16px/1.55 system-ui,sans-serif}\
main{max-width:1080px;margin:0 auto;padding:36px 24px 64px}\
h1{font-size:29px;margin:0 0 10px}h2{font-size:20px;margin:40px 0 8px}\
p{max-width:76ch}\
.box{background:#fff;border:1px solid #e4e1da;border-radius:10px;padding:14px 16px;\
margin:12px 0;overflow-x:auto}\
.box svg{max-width:100%;height:auto;display:block}\
table{border-collapse:collapse;font-size:14.5px;font-variant-numeric:tabular-nums}\
td,th{padding:4px 20px 4px 0;text-align:left;border-bottom:1px solid #eee}\
th{color:#666;font-weight:500}.note{color:#666;font-size:14px}";

impl Table {
    /// Comma-separated values.
    pub fn to_csv(&self) -> String {
        let cell = |text: &str| {
            if text.contains([',', '"', '\n']) {
                format!("\"{}\"", text.replace('"', "\"\""))
            } else {
                text.to_owned()
            }
        };
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let header = line(self.header.iter().map(|text| cell(text)).collect());
        let rows = self.rows.iter().map(|row| line(row.iter().map(|text| cell(text)).collect()));
        header + &rows.collect::<String>()
    }

    fn to_html(&self) -> String {
        let row = |cells: &mut dyn Iterator<Item = String>, tag: &str| {
            let cells: String = cells.map(|cell| format!("<{tag}>{}</{tag}>", escaped(&cell))).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let mut html = format!("<p class=note>{}</p><div class=box><table>\n", escaped(&self.caption));
        html += &row(&mut self.header.iter().map(|cell| cell.to_string()), "th");
        for cells in self.rows.iter().take(MOST_ROWS) {
            html += &row(&mut cells.iter().cloned(), "td");
        }
        html += "</table></div>\n";
        if self.rows.len() > MOST_ROWS {
            let more = self.rows.len() - MOST_ROWS;
            let _ = writeln!(html, "<p class=note>{more} more rows are in {}.csv.</p>", self.name);
        }
        html
    }
}

impl Findings {
    /// The page. `settings` are pairs of a word and its value.
    pub fn page(&self, settings: &[(String, String)]) -> String {
        let mut body = format!("<h1>{}</h1>\n<p>{}</p>\n", escaped(self.title), escaped(&self.about));
        body += "<h2>What the paper says, and what was measured</h2>\n";
        body += &self.comparison.to_html();
        for note in &self.notes {
            let _ = writeln!(body, "<p>{}</p>", escaped(note));
        }
        body += "<h2>Figures</h2>\n";
        for figure in &self.figures {
            let caption = escaped(&figure.caption);
            let _ =
                writeln!(body, "<div class=box>{}</div><p class=note>{caption}</p>", figure.drawing.to_svg());
        }
        body += "<h2>Numbers</h2>\n";
        self.tables.iter().for_each(|table| body += &table.to_html());
        body += "<h2>Settings</h2>\n<div class=box><table>\n";
        for (word, value) in settings {
            let _ = writeln!(body, "<tr><td>{}</td><td>{}</td></tr>", escaped(word), escaped(value));
        }
        body += "</table></div>\n";
        let title = escaped(self.title);
        format!(
            "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport \
             content='width=device-width,initial-scale=1'><title>{title}</title><style>{STYLE}</style>\n\
             <main>{body}</main></html>\n"
        )
    }
}

/// Text that may stand in a page.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_its_commas_and_a_page_its_brackets() {
        let table = Table {
            name: "t",
            caption: "a < b".to_owned(),
            header: vec!["a", "b"],
            rows: vec![vec!["1,5".to_owned(), "say \"x\"".to_owned()]],
        };
        assert_eq!(table.to_csv(), "a,b\n\"1,5\",\"say \"\"x\"\"\"\n");
        assert!(table.to_html().contains("a &lt; b"));
    }
}
