//! The standard normal quantile, to sixteen digits (Wichura 1988, AS 241, routine PPND16).

/// The `z` with `P(Z <= z) = p` for a standard normal `Z`: infinite at 0 and 1, NaN outside.
///
/// ```
/// # use kith::math::normal;
/// assert!((normal::quantile(0.975) - 1.959963984540054).abs() < 1e-14);
/// ```
pub fn quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let from_middle = p - 0.5;
    if from_middle.abs() <= 0.425 {
        return from_middle * ratio(&CENTRE, 0.180625 - from_middle * from_middle);
    }
    let tail = if from_middle < 0.0 { p } else { 1.0 - p };
    if tail == 0.0 {
        return f64::INFINITY.copysign(from_middle);
    }
    let r = (-libm::log(tail)).sqrt();
    let magnitude = if r <= 5.0 { ratio(&MIDDLE, r - 1.6) } else { ratio(&TAIL, r - 5.0) };
    magnitude.copysign(from_middle)
}

/// Numerator over denominator, both by Horner's rule.
fn ratio([numerator, denominator]: &[[f64; 8]; 2], x: f64) -> f64 {
    let at = |coefficients: &[f64; 8]| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
    at(numerator) / at(denominator)
}

/// Numerator and denominator for `|p - 1/2| <= 0.425`, in `0.180625 - (p - 1/2)^2`, lowest power first.
const CENTRE: [[f64; 8]; 2] = [
    [
        3.3871328727963665,
        133.14166789178438,
        1971.5909503065513,
        13731.69376550946,
        45921.95393154987,
        67265.7709270087,
        33430.57558358813,
        2509.0809287301227,
    ],
    [
        1.0,
        42.31333070160091,
        687.1870074920579,
        5394.196021424751,
        21213.794301586597,
        39307.89580009271,
        28729.085735721943,
        5226.495278852854,
    ],
];
/// Numerator and denominator for tails down to `exp(-25)`, in `r - 1.6`, lowest power first.
const MIDDLE: [[f64; 8]; 2] = [
    [
        1.4234371107496835,
        4.630337846156546,
        5.769497221460691,
        3.6478483247632045,
        1.2704582524523684,
        0.2417807251774506,
        0.022723844989269184,
        0.0007745450142783414,
    ],
    [
        1.0,
        2.053191626637759,
        1.6763848301838038,
        0.6897673349851,
        0.14810397642748008,
        0.015198666563616457,
        0.0005475938084995345,
        1.0507500716444169e-09,
    ],
];
/// Numerator and denominator beyond, in `r - 5`, lowest power first.
const TAIL: [[f64; 8]; 2] = [
    [
        6.657904643501103,
        5.463784911164114,
        1.7848265399172913,
        0.29656057182850487,
        0.026532189526576124,
        0.0012426609473880784,
        2.7115555687434876e-05,
        2.0103343992922881e-07,
    ],
    [
        1.0,
        0.599832206555888,
        0.1369298809227358,
        0.014875361290850615,
        0.0007868691311456133,
        1.8463183175100548e-05,
        1.421511758316446e-07,
        2.0442631033899397e-15,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_forty_digit_arithmetic() {
        // Roots of ln Phi(z) = ln p, found with 40 digits; each of the three ranges, and both its ends, is
        // met.
        let reference = [
            (1e-300, -37.0470962993612),
            (1e-100, -21.273453560965326),
            (1e-20, -9.262340089798407),
            (1e-9, -5.9978070150076865),
            (0.0013498980316300945, -3.0),
            (0.02425, -1.972961051311885),
            (0.075, -1.439531470938456),
            (0.2, -0.8416212335729142),
            (0.425, -0.18911842627279252),
            (0.6, 0.2533471031357997),
            (0.925, 1.4395314709384561),
            (0.975, 1.9599639845400538),
            (0.99999, 4.264890793923841),
        ];
        for (p, z) in reference {
            let error = (quantile(p) / z - 1.0).abs();
            assert!(error < 1e-15, "p = {p}: got {}, wanted {z}, relative error {error:e}", quantile(p));
        }
    }

    #[test]
    fn the_cumulative_probability_of_a_quantile_is_its_argument() {
        for k in 1..2000 {
            let p = f64::from(k) / 2000.0;
            let back = 0.5 * libm::erfc(-quantile(p) * std::f64::consts::FRAC_1_SQRT_2);
            assert!((back / p - 1.0).abs() < 1e-14, "p = {p}: got {back}");
        }
    }

    #[test]
    fn the_two_tails_mirror_each_other_and_the_ends_are_infinite() {
        for k in 1..64 {
            let p = f64::from(k) / 128.0;
            assert_eq!(quantile(p), -quantile(1.0 - p));
        }
        assert_eq!(quantile(0.5), 0.0);
        assert_eq!((quantile(0.0), quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(quantile(-0.1).is_nan() && quantile(1.1).is_nan() && quantile(f64::NAN).is_nan());
    }
}
