import type { SizeTable, VmSize, VmSizes } from "../../domain/catalogue.ts";
import { problemAt } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/** The key of a table that is no location: it maps locations to those that replace them. */
const PROXIES = "proxied-locations";

/**
 * Reads a table of VM sizes in scalelib's form (scalelib.md 2): location -> VM size -> family and capabilities as the SKU API names them,
 * and proxied locations. The user's own file has this form. Capabilities that are neither numbers nor booleans are reported.
 */
export function readSizeTable(value: unknown, path: string, problems: Problems): SizeTable {
  const locations = new Map<string, VmSizes>();
  const proxies = new Map<string, string>();
  if (!isFields(value)) {
    problems.add(() => problemAt(path, value, "an object: location -> VM size -> its record"));
    return { locations, proxies };
  }
  for (const [location, sizes] of Object.entries(value)) {
    const at = `${path}.${location}`;
    if (!isFields(sizes)) problems.add(() => problemAt(at, sizes, "an object"));
    else if (location === PROXIES) readProxies(sizes, at, proxies, problems);
    else locations.set(location, readSizes(sizes, at, problems));
  }
  return { locations, proxies };
}

function readProxies(from: Fields, path: string, proxies: Map<string, string>, problems: Problems): void {
  for (const [location, other] of Object.entries(from)) {
    if (typeof other === "string") proxies.set(location, other);
    else problems.add(() => problemAt(`${path}.${location}`, other, "the location that stands in for it"));
  }
}

function readSizes(from: Fields, path: string, problems: Problems): VmSizes {
  const sizes = new Map<string, VmSize>();
  for (const [name, record] of Object.entries(from)) {
    if (isFields(record)) sizes.set(name.toLowerCase(), readSize(record, `${path}.${name}`, problems));
    else problems.add(() => problemAt(`${path}.${name}`, record, "an object with family and capabilities"));
  }
  return sizes;
}

function readSize(record: Fields, path: string, problems: Problems): VmSize {
  const capabilities = isFields(record["capabilities"]) ? record["capabilities"] : {};
  const number = (key: string): number | undefined => {
    const value = capabilities[key];
    if (value === undefined || (typeof value === "number" && Number.isFinite(value))) return value;
    problems.add(() => problemAt(`${path}.capabilities.${key}`, value, "a number"));
    return undefined;
  };
  const family = record["family"];
  const vcpus = number("vCPUsAvailable") ?? number("vCPUs");
  const [perCore, gpus, memoryGib] = [number("vCPUsPerCore"), number("GPUs"), number("MemoryGB")];
  const rdma = capabilities["RdmaEnabled"];
  return {
    ...(typeof family === "string" ? { family } : {}),
    ...withoutAbsent({ vcpus, vcpusPerCore: perCore, gpus, memoryGib }),
    ...(typeof rdma === "boolean" ? { infiniband: rdma } : {}),
  };
}

/** The table in the form in which it is read, with the capabilities that count. */
export function writeSizeTable({ locations, proxies }: SizeTable): Fields {
  const tables = [...locations].map(([location, sizes]): [string, object] => [
    location,
    Object.fromEntries([...sizes].map(([name, size]) => [name, writeSize(size)])),
  ]);
  const written = Object.fromEntries(tables);
  return proxies.size === 0 ? written : { ...written, [PROXIES]: Object.fromEntries(proxies) };
}

function writeSize({ family, vcpus, vcpusPerCore, gpus, memoryGib, infiniband }: VmSize): object {
  return {
    ...withoutAbsent({ family }),
    capabilities: withoutAbsent({
      vCPUsAvailable: vcpus,
      vCPUsPerCore: vcpusPerCore,
      GPUs: gpus,
      MemoryGB: memoryGib,
      RdmaEnabled: infiniband,
    }),
  };
}
