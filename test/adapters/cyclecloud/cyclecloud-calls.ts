import { arrayName, clusterName, machineType, requestId } from "../../../src/domain/ids.ts";
import { instant } from "../../../src/domain/units.ts";

/*
 * What the calls of these tests are about.
 */

export const cluster = clusterName("HPC prod/ä%");
export const now = instant(1_768_040_000_000);
export const id = requestId("4f3c2b1a-0000-4000-8000-000000000001");
export const bucket = { array: arrayName("hpc"), machineType: machineType("Standard_HB120rs_v3") };
