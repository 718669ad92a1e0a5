//! The table at the end: what was reached, against what was aimed at.

/// A goal, in the unit of what it judges.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// This much or more.
    AtLeast(f64),
    /// This much or less.
    AtMost(f64),
}

/// A line of the table.
#[derive(Debug, Clone)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// What was reached.
    pub reached: f64,
    /// What was aimed at.
    pub goal: Goal,
    /// Unit of both; empty for a ratio.
    pub unit: &'static str,
    /// The absolute figures behind it, true for this machine at this hour.
    pub figures: String,
}

impl Row {
    fn met(&self) -> bool {
        match self.goal {
            Goal::AtLeast(least) => self.reached >= least,
            Goal::AtMost(most) => self.reached <= most,
        }
    }

    fn cells(&self) -> [String; 5] {
        let number = |value: f64| match self.unit {
            "" => format!("{value:.2}"),
            unit => format!("{value:.0} {unit}"),
        };
        let goal = match self.goal {
            Goal::AtLeast(least) => format!("≥ {}", number(least)),
            Goal::AtMost(most) => format!("≤ {}", number(most)),
        };
        let verdict = if self.met() { "met" } else { "MISSED" };
        [self.what.clone(), number(self.reached), goal, verdict.to_owned(), self.figures.clone()]
    }
}

/// Prints the lines, in columns.
pub fn print(rows: &[Row]) {
    let head = ["", "reached", "goal", "", "figures of this run"].map(str::to_owned);
    let cells: Vec<[String; 5]> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    let width = |column: usize| cells.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    println!();
    for [what, reached, goal, verdict, figures] in &cells {
        println!(
            "{what:<0$}  {reached:>1$}  {goal:<2$}  {verdict:<3$}  {figures}",
            widths[0], widths[1], widths[2], widths[3]
        );
    }
    let missed = rows.iter().filter(|row| !row.met()).count();
    println!("\n{} of {} goals met.", rows.len() - missed, rows.len());
}
