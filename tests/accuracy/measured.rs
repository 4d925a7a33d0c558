//! What was measured: times of 27 MSCCL programs on eight MI300X, Azure ND MI300X v5, RCCL 2.21.5 of ROCm 6.3, in microseconds and in
//! place, as printed by rccl-tests. From the public data set <https://github.com/rouge3877/ns3-msccl-data>.

use collective::sim::machine::Protocol;
use collective::sim::machine::Protocol::{Ll, Ll128, Simple};

use crate::programs::Shape;
use crate::programs::Shape::{AllPairsGather, AllPairsReduce, Ring};

/// A program and its times.
pub(crate) struct Run {
    /// As in the data set: collective, pattern, protocol, channels, instances.
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) protocol: Protocol,
    pub(crate) instances: u32,
    /// The first size in bytes; each further one is twice as large.
    first: u64,
    /// Microseconds.
    us: &'static [f64],
}

impl Run {
    /// Sizes in bytes, with microseconds.
    ///
    /// Without those that the program did not run at: RCCL's MSCCL takes a program only where its chunks divide the elements, here of 4 bytes
    /// (`src/misc/msccl/msccl_lifecycle.cc`), else RCCL chooses by itself. In the data set times jump there: LL128 from 18 to 213.
    pub(crate) fn times(&self) -> impl Iterator<Item = (u64, f64)> {
        let sizes = std::iter::successors(Some(self.first), |size| Some(2 * size));
        let least = 4 * self.shape.chunks() as u64 * u64::from(self.instances);
        sizes.zip(self.us.iter().copied()).filter(move |(size, _)| size % least == 0)
    }
}

#[rustfmt::skip]
pub(crate) const RUNS: [Run; 27] = [
    Run {
        name: "ag_allpair_simple_x_2",
        shape: AllPairsGather,
        protocol: Simple,
        instances: 2,
        first: 128,
        us: &[10.61, 10.58, 10.57, 10.55, 11.06, 10.25, 10.28, 10.28, 10.93, 10.43, 10.62, 11.13, 13.42, 17.97, 24.85, 38.35, 63.25, 113.5, 213.7, 421.8, 832.2, 1647.6, 3269.9, 6499.6, 12981.0, 25949.0],
    },
    Run {
        name: "ag_allpair_simple_x_4",
        shape: AllPairsGather,
        protocol: Simple,
        instances: 4,
        first: 128,
        us: &[10.62, 10.65, 10.47, 10.49, 10.9, 10.04, 10.72, 10.12, 10.64, 10.24, 10.89, 10.64, 12.15, 13.89, 19.92, 28.88, 46.99, 83.31, 155.6, 297.3, 567.7, 1090.5, 2124.4, 4151.9, 8147.2, 16177.0],
    },
    Run {
        name: "ag_ring_simple_1_1",
        shape: Ring(1),
        protocol: Simple,
        instances: 1,
        first: 128,
        us: &[39.56, 39.58, 39.29, 39.39, 39.38, 39.39, 39.48, 39.68, 39.54, 40.88, 43.06, 54.08, 85.54, 128.4, 212.3, 373.9, 700.9, 1356.1, 2697.6, 5414.3, 10809.0, 21562.0, 43128.0, 86402.0, 172796.0, 345791.0],
    },
    Run {
        name: "ag_ring_simple_1_2",
        shape: Ring(1),
        protocol: Simple,
        instances: 2,
        first: 128,
        us: &[41.32, 40.06, 39.92, 39.93, 40.21, 39.26, 39.39, 39.66, 39.6, 39.69, 41.14, 44.22, 57.2, 87.55, 132.7, 220.4, 385.3, 716.6, 1375.5, 2732.3, 5471.0, 10917.0, 21892.0, 43737.0, 87396.0, 174860.0],
    },
    Run {
        name: "ag_ring_simple_2_1",
        shape: Ring(2),
        protocol: Simple,
        instances: 1,
        first: 128,
        us: &[35.6, 35.42, 35.39, 35.27, 36.02, 35.12, 35.57, 35.36, 35.64, 36.92, 39.23, 50.33, 67.76, 101.1, 168.4, 294.8, 547.0, 1042.7, 2024.8, 3987.3, 7964.2, 15947.0, 31983.0, 64168.0, 128364.0, 257170.0],
    },
    Run {
        name: "ag_ring_simple_2_2",
        shape: Ring(2),
        protocol: Simple,
        instances: 2,
        first: 128,
        us: &[37.18, 35.74, 35.74, 35.77, 36.18, 35.55, 35.92, 35.31, 35.63, 35.68, 37.14, 40.32, 53.23, 71.06, 106.5, 178.1, 313.7, 580.1, 1090.3, 2313.1, 4629.5, 9294.6, 18392.0, 36876.0, 73709.0, 147209.0],
    },
    Run {
        name: "ag_ring_simple_4_2",
        shape: Ring(4),
        protocol: Simple,
        instances: 2,
        first: 128,
        us: &[37.13, 36.24, 35.77, 36.65, 36.14, 35.57, 35.85, 35.79, 35.64, 35.85, 36.93, 40.09, 52.8, 70.21, 106.2, 178.1, 319.2, 593.4, 1109.3, 1994.9, 3766.0, 7277.7, 14364.0, 28559.0, 57237.0, 114869.0],
    },
    Run {
        name: "ar_allpair_simple_x_1",
        shape: AllPairsReduce,
        protocol: Simple,
        instances: 1,
        first: 8,
        us: &[17.06, 16.96, 17.03, 17.15, 17.23, 19.91, 19.93, 19.86, 20.38, 20.17, 20.08, 20.16, 20.15, 20.52, 21.86, 24.26, 34.18, 49.35, 79.51, 141.9, 264.5, 505.0, 958.1],
    },
    Run {
        name: "ar_allpair_simple_x_2",
        shape: AllPairsReduce,
        protocol: Simple,
        instances: 2,
        first: 8,
        us: &[17.16, 17.05, 17.07, 17.18, 17.37, 17.64, 19.47, 19.47, 19.22, 20.12, 19.88, 20.68, 19.97, 20.27, 20.42, 21.51, 24.81, 35.35, 51.9, 85.85, 150.2, 272.0, 509.2, 1013.4],
    },
    Run {
        name: "ar_allpair_simple_x_4",
        shape: AllPairsReduce,
        protocol: Simple,
        instances: 4,
        first: 8,
        us: &[17.13, 16.9, 16.92, 17.12, 17.26, 17.41, 18.15, 19.04, 19.17, 19.22, 20.21, 20.17, 20.04, 20.72, 20.44, 21.02, 22.8, 27.3, 39.43, 60.43, 102.9, 186.9, 344.9, 659.0, 1309.3],
    },
    Run {
        name: "ag_ring_ll_2_1",
        shape: Ring(2),
        protocol: Ll,
        instances: 1,
        first: 128,
        us: &[16.01, 16.51, 16.98, 16.76, 17.93, 17.31, 17.92, 18.72, 23.4, 31.94, 50.34, 95.06, 190.0, 376.2, 750.7, 1495.1, 2987.5, 5990.7, 12025.0, 23947.0, 47753.0, 95575.0, 191358.0, 383284.0, 769642.0, 1541741.0],
    },
    Run {
        name: "ag_ring_ll_2_2",
        shape: Ring(2),
        protocol: Ll,
        instances: 2,
        first: 128,
        us: &[16.21, 16.65, 17.34, 17.47, 17.74, 17.26, 18.28, 18.08, 19.52, 23.44, 32.38, 51.01, 98.78, 194.0, 384.3, 763.5, 1526.1, 3054.3, 6120.5, 12184.0, 24332.0, 48694.0, 97483.0, 195479.0, 391805.0, 784386.0],
    },
    Run {
        name: "ag_ring_ll_4_1",
        shape: Ring(4),
        protocol: Ll,
        instances: 1,
        first: 128,
        us: &[16.93, 17.21, 17.32, 16.87, 18.09, 17.34, 18.51, 18.88, 23.35, 32.05, 50.32, 86.99, 163.5, 313.8, 619.8, 1228.3, 2455.2, 4890.6, 9783.3, 19508.0, 39099.0, 78029.0, 156417.0, 312935.0, 626697.0, 1253473.0],
    },
    Run {
        name: "ag_ring_ll_4_2",
        shape: Ring(4),
        protocol: Ll,
        instances: 2,
        first: 128,
        us: &[17.19, 17.43, 17.37, 18.31, 17.71, 17.88, 18.13, 18.42, 19.23, 23.88, 32.62, 51.22, 90.2, 166.3, 320.9, 636.5, 1267.1, 2509.7, 4986.5, 9925.8, 19872.0, 39664.0, 79615.0, 159317.0, 318986.0, 638761.0],
    },
    Run {
        name: "ag_ring_ll_8_1",
        shape: Ring(8),
        protocol: Ll,
        instances: 1,
        first: 128,
        us: &[16.84, 16.85, 16.68, 17.18, 17.64, 17.63, 18.52, 18.77, 23.34, 32.08, 49.85, 60.72, 83.87, 127.9, 216.9, 395.5, 753.8, 1470.0, 2877.7, 5751.1, 11521.0, 23036.0, 46083.0, 92202.0, 184326.0, 368685.0],
    },
    Run {
        name: "ar_allpair_ll_x_1",
        shape: AllPairsReduce,
        protocol: Ll,
        instances: 1,
        first: 8,
        us: &[17.14, 17.14, 17.11, 17.3, 17.35, 13.0, 12.87, 12.81, 13.24, 13.23, 12.98, 13.39, 15.78, 20.15, 29.76, 49.94, 92.59, 177.4, 351.6, 700.3, 1392.7, 2783.3, 5560.5, 11129.0, 22501.0, 45095.0, 90316.0, 180170.0, 360086.0, 718779.0],
    },
    Run {
        name: "ar_allpair_ll_x_2",
        shape: AllPairsReduce,
        protocol: Ll,
        instances: 2,
        first: 8,
        us: &[17.03, 16.91, 16.87, 17.11, 17.18, 17.42, 12.54, 12.45, 12.52, 13.04, 13.12, 13.74, 13.2, 15.69, 20.02, 29.58, 50.51, 93.38, 178.8, 354.2, 704.9, 1402.9, 2798.7, 5581.0, 11150.0, 22541.0, 45103.0, 90363.0, 180449.0, 360355.0],
    },
    Run {
        name: "ar_allpair_ll_x_4",
        shape: AllPairsReduce,
        protocol: Ll,
        instances: 4,
        first: 8,
        us: &[17.02, 16.91, 16.96, 17.02, 17.22, 17.44, 18.12, 12.0, 11.96, 11.93, 12.79, 12.99, 13.01, 13.69, 15.68, 20.71, 30.73, 52.14, 95.97, 186.7, 366.5, 728.4, 1445.1, 2868.6, 5699.8, 11425.0, 22894.0, 46052.0, 91774.0, 183140.0],
    },
    Run {
        name: "ar_allpair_ll_x_8",
        shape: AllPairsReduce,
        protocol: Ll,
        instances: 8,
        first: 8,
        us: &[17.1, 17.04, 17.02, 17.27, 17.27, 17.57, 18.27, 18.56, 13.48, 12.6, 13.4, 13.66, 14.43, 13.88, 15.19, 16.08, 21.78, 32.51, 55.79, 103.7, 202.4, 395.6, 782.4, 1551.8, 3019.8, 6013.8, 12173.0, 23983.0, 47908.0, 95560.0],
    },
    Run {
        name: "ag_allpair_LL128_x_4",
        shape: AllPairsGather,
        protocol: Ll128,
        instances: 4,
        first: 128,
        us: &[213.7, 213.8, 213.5, 213.7, 214.2, 213.5, 213.6, 213.5, 213.7, 214.5, 214.7, 216.3, 219.8, 225.1, 240.5, 289.0, 349.4, 467.1, 712.1, 1194.9, 2153.9, 4082.7, 7927.4, 16078.0, 31503.0, 62317.0],
    },
    Run {
        name: "ag_allpair_LL128_x_8",
        shape: AllPairsGather,
        protocol: Ll128,
        instances: 8,
        first: 128,
        us: &[17.81, 214.5, 214.5, 214.2, 215.3, 215.1, 214.2, 214.3, 214.2, 214.1, 214.9, 215.4, 217.0, 220.5, 226.3, 241.9, 291.6, 353.3, 473.4, 723.8, 1211.7, 2173.4, 4105.9, 7972.6, 16182.0, 31652.0],
    },
    Run {
        name: "ag_ring_LL128_1_2",
        shape: Ring(1),
        protocol: Ll128,
        instances: 2,
        first: 128,
        us: &[225.5, 223.9, 224.6, 224.9, 225.2, 224.2, 224.1, 224.1, 229.1, 230.4, 244.1, 287.7, 324.6, 439.2, 639.6, 1054.6, 1838.3, 3417.1, 6599.0, 13519.0, 26313.0, 51837.0, 102780.0, 205066.0, 408933.0, 815784.0],
    },
    Run {
        name: "ag_ring_LL128_2_1",
        shape: Ring(2),
        protocol: Ll128,
        instances: 1,
        first: 128,
        us: &[213.5, 213.6, 213.7, 213.7, 214.1, 213.3, 212.9, 217.1, 217.6, 223.1, 242.0, 288.6, 357.4, 471.2, 717.4, 1180.4, 2114.6, 4022.4, 7838.6, 16004.0, 31122.0, 61497.0, 122593.0, 244593.0, 488805.0, 978312.0],
    },
    Run {
        name: "ag_ring_LL128_4_1",
        shape: Ring(4),
        protocol: Ll128,
        instances: 1,
        first: 128,
        us: &[218.3, 220.4, 219.6, 217.8, 218.7, 212.7, 216.4, 219.4, 219.1, 228.4, 260.4, 281.0, 341.5, 432.1, 634.8, 1029.1, 1800.6, 3354.3, 6501.1, 13308.0, 25859.0, 50981.0, 101248.0, 201690.0, 402984.0, 805569.0],
    },
    Run {
        name: "ag_ring_LL128_8_2",
        shape: Ring(8),
        protocol: Ll128,
        instances: 2,
        first: 128,
        us: &[234.9, 233.2, 233.1, 234.0, 233.6, 232.8, 232.9, 232.8, 235.8, 236.6, 261.5, 273.2, 295.9, 327.6, 359.0, 426.3, 560.1, 834.6, 1347.5, 2383.9, 4457.6, 8641.0, 17387.0, 34037.0, 67317.0, 133877.0],
    },
    Run {
        name: "ar_allpair_LL128_x_2",
        shape: AllPairsReduce,
        protocol: Ll128,
        instances: 2,
        first: 8,
        us: &[17.12, 17.05, 17.11, 17.2, 17.59, 17.59, 212.6, 212.8, 212.6, 213.7, 213.4, 212.7, 214.7, 214.9, 218.4, 225.6, 238.2, 308.7, 359.0, 509.5, 789.1, 1281.6, 2284.7, 4278.4, 8224.0, 16808.0, 33147.0, 65474.0, 129892.0, 257402.0],
    },
    Run {
        name: "ar_allpair_LL128_x_4",
        shape: AllPairsReduce,
        protocol: Ll128,
        instances: 4,
        first: 8,
        us: &[17.16, 17.09, 17.13, 17.21, 17.28, 17.53, 18.3, 212.5, 212.5, 213.0, 212.8, 213.9, 212.9, 215.2, 215.1, 218.0, 226.7, 236.9, 313.3, 363.9, 518.7, 802.8, 1287.7, 2323.7, 4359.1, 8371.5, 16922.0, 33453.0, 66022.0, 130337.0],
    },
];
