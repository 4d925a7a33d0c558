//! The fit of the ring of DGX Spark.

/// t0 + k·(α + S/(n·B)): the figures of a ring.
pub(crate) struct Ring {
    /// t0, in microseconds.
    pub(crate) launch: f64,
    /// α, in microseconds.
    pub(crate) latency: f64,
    /// B, in GB/s.
    pub(crate) bandwidth: f64,
}

/// A time of a ring.
pub(crate) struct Point {
    pub(crate) ranks: f64,
    /// Messages one after the other: 2·(n−1) for all-reduce, n−1 for its halves.
    pub(crate) rounds: f64,
    pub(crate) bytes: f64,
    pub(crate) micros: f64,
}

impl Point {
    /// What t0, α and 1/B (in µs for 1000 bytes) are multiplied by.
    fn terms(&self) -> [f64; 3] {
        [1.0, self.rounds, self.rounds * self.bytes / self.ranks / 1000.0]
    }
}

/// Least squares in the logarithm of times, by Gauss and Newton.
pub(crate) fn fit(points: &[Point]) -> Ring {
    let mut figures = [100.0, 1.0, 1.0 / 25.0];
    for _ in 0..20 {
        let (mut matrix, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
        for point in points {
            let terms = point.terms();
            let time: f64 = terms.iter().zip(figures).map(|(term, figure)| term * figure).sum();
            let slopes = terms.map(|term| term / time);
            for row in 0..3 {
                right[row] += slopes[row] * (point.micros / time).ln();
                for column in 0..3 {
                    matrix[row][column] += slopes[row] * slopes[column];
                }
            }
        }
        // Cramer's rule.
        let whole = determinant(matrix);
        let with = |column: usize| {
            let mut replaced = matrix;
            (0..3).for_each(|row| replaced[row][column] = right[row]);
            determinant(replaced) / whole
        };
        let changes = [with(0), with(1), with(2)];
        figures.iter_mut().zip(changes).for_each(|(figure, change)| *figure += change);
    }
    let [launch, latency, inverse] = figures;
    Ring { launch, latency, bandwidth: 1.0 / inverse }
}

fn determinant(m: [[f64; 3]; 3]) -> f64 {
    let minor = |a: usize, b: usize| m[1][a] * m[2][b] - m[1][b] * m[2][a];
    m[0][0] * minor(1, 2) - m[0][1] * minor(0, 2) + m[0][2] * minor(0, 1)
}
