//! The table at the end, with results and goals.

/// A goal, in the unit of the measured value.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    /// This much or more.
    AtLeast(f64),
    /// This much or less.
    AtMost(f64),
    /// None: the value is for the reader.
    None,
}

/// A line of the table.
#[derive(Debug, Clone)]
pub struct ResultRow {
    /// Name of the measurement.
    pub what: String,
    /// Measured value.
    pub reached: f64,
    /// Goal for the value.
    pub goal: Goal,
    /// Unit of value and goal; empty for a ratio.
    pub unit: &'static str,
    /// Absolute figures behind the value, which depend on the machine and the moment.
    pub figures: String,
}

impl ResultRow {
    /// Returns true if the value reaches its goal.
    fn is_met(&self) -> bool {
        match self.goal {
            Goal::AtLeast(least) => self.reached >= least,
            Goal::AtMost(most) => self.reached <= most,
            Goal::None => true,
        }
    }

    /// Returns the cells of the line: name, value, goal, `met` or `MISSED`, figures. Those of the goal are empty if
    /// there is none. Ratios have two decimals, other values none.
    fn format_cells(&self) -> [String; 5] {
        let number = |value: f64| match self.unit {
            "" => format!("{value:.2}"),
            unit => format!("{value:.0} {unit}"),
        };
        let goal = match self.goal {
            Goal::AtLeast(least) => format!("≥ {}", number(least)),
            Goal::AtMost(most) => format!("≤ {}", number(most)),
            Goal::None => String::new(),
        };
        let verdict = match self.goal {
            Goal::None => "",
            _ if self.is_met() => "met",
            _ => "MISSED",
        };
        [self.what.clone(), number(self.reached), goal, verdict.to_owned(), self.figures.clone()]
    }
}

/// Prints the lines in columns, and the number of goals that are met.
pub fn print_table(rows: &[ResultRow]) {
    let head = ["", "reached", "goal", "", "figures of this run"].map(str::to_owned);
    let cells: Vec<[String; 5]> = std::iter::once(head).chain(rows.iter().map(ResultRow::format_cells)).collect();
    let width = |column: usize| cells.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    println!();
    for [what, reached, goal, verdict, figures] in &cells {
        println!(
            "{what:<0$}  {reached:>1$}  {goal:<2$}  {verdict:<3$}  {figures}",
            widths[0], widths[1], widths[2], widths[3]
        );
    }
    let with_goal = rows.iter().filter(|row| !matches!(row.goal, Goal::None));
    let (goals, met) = (with_goal.clone().count(), with_goal.filter(|row| row.is_met()).count());
    println!("\n{met} of {goals} goals met.");
}
