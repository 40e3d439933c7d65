import { readFileSync, writeFileSync } from "node:fs";

/**
 * node infra/make-vm-sizes.ts SIZES.csv
 * Makes src/domain/vm-sizes.json of a list of Azure's VM sizes: name -> [family, vCPUs that can be used, vCPUs per core (0: not known),
 * GiB, GPUs, InfiniBand (1 or 0)]. The columns are found by their names in the first line.
 */
const [, , source] = process.argv;
if (source === undefined) throw new Error("usage: node infra/make-vm-sizes.ts SIZES.csv");
const [header, ...lines] = readFileSync(source, "utf8").trimEnd().split(/\r?\n/);
const columns = header?.split(",") ?? [];

function cell(cells: readonly string[], name: string): string {
  const at = columns.indexOf(name);
  if (at < 0) throw new Error(`${source} has no column ${name}`);
  const text = cells[at];
  if (text === undefined) throw new Error(`not a size: ${cells.join()}`);
  return text;
}

const rows = lines.map((line) => {
  const cells = line.split(",");
  const vcpus = Number(cell(cells, "vcpus_available") || cell(cells, "vcpus"));
  const perCore = Number(cell(cells, "vcpus_per_core") || 0);
  const infiniband = cell(cells, "infiniband") === "true" ? 1 : 0;
  const numbers = [
    vcpus,
    perCore,
    Number(cell(cells, "memory_gib")),
    Number(cell(cells, "gpus") || 0),
    infiniband,
  ];
  if (numbers.some(Number.isNaN)) throw new Error(`not a size: ${line}`);
  return `${JSON.stringify(cell(cells, "vm_size").toLowerCase())}:${JSON.stringify([cell(cells, "family"), ...numbers])}`;
});
const target = new URL("../src/domain/vm-sizes.json", import.meta.url);
writeFileSync(target, `{\n${rows.sort().join(",\n")}\n}\n`);
process.stdout.write(`${rows.length} sizes\n`);
