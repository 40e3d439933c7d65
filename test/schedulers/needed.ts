import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** What must be installed for a real Slurm: programs, and the packages of Debian that bring them. */
const PROGRAMS = ["munged", "slurmctld", "slurmd", "scontrol", "squeue", "sbatch"] as const;
export const PACKAGES = ["slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "munge"] as const;
/** Slurm's daemons are in /usr/sbin, which is not in every user's path. */
export const PATH = `${process.env["PATH"]}${delimiter}/usr/sbin`;

/** Programs that are not installed. */
export const missingPrograms = (): readonly string[] =>
  PROGRAMS.filter((name) => !PATH.split(delimiter).some((folder) => existsSync(join(folder, name))));
