//! Small symmetric systems of equations.

/// A square matrix.
pub(super) type Matrix = Vec<Vec<f64>>;

/// The solution x of A x = b, for a symmetric positive definite A, by the decomposition of Cholesky; none if it is not definite.
pub(super) fn solve(matrix: &Matrix, right: &[f64]) -> Option<Vec<f64>> {
    let lower = cholesky(matrix)?;
    let count = right.len();
    let mut values = right.to_vec();
    for row in 0..count {
        let known: f64 = (0..row).map(|at| lower[row][at] * values[at]).sum();
        values[row] = (values[row] - known) / lower[row][row];
    }
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|at| lower[at][row] * values[at]).sum();
        values[row] = (values[row] - known) / lower[row][row];
    }
    Some(values)
}

/// The inverse of a symmetric positive definite matrix.
pub(super) fn inverse(matrix: &Matrix) -> Option<Matrix> {
    let unit =
        |at: usize| (0..matrix.len()).map(|row| if row == at { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
    (0..matrix.len()).map(|at| solve(matrix, &unit(at))).collect()
}

fn cholesky(matrix: &Matrix) -> Option<Matrix> {
    let count = matrix.len();
    let mut lower = vec![vec![0.0; count]; count];
    for row in 0..count {
        for column in 0..=row {
            let known: f64 = (0..column).map(|at| lower[row][at] * lower[column][at]).sum();
            let rest = matrix[row][column] - known;
            if row != column {
                lower[row][column] = rest / lower[column][column];
            } else if rest > 0.0 && rest.is_finite() {
                lower[row][row] = rest.sqrt();
            } else {
                return None;
            }
        }
    }
    Some(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_solved_and_inverted() {
        // (4 2; 2 3) (1, 2) = (8, 8), and the inverse is (3 −2; −2 4) / 8.
        let matrix = vec![vec![4.0, 2.0], vec![2.0, 3.0]];
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let solution = solve(&matrix, &[8.0, 8.0]).unwrap();
        assert!(near(solution[0], 1.0) && near(solution[1], 2.0), "{solution:?}");
        let inverse = inverse(&matrix).unwrap();
        assert!(near(inverse[0][0], 0.375) && near(inverse[0][1], -0.25) && near(inverse[1][1], 0.5));
        assert_eq!(solve(&vec![vec![1.0, 1.0], vec![1.0, 1.0]], &[1.0, 1.0]), None);
    }
}
