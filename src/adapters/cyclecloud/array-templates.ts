import type { ArrayTemplates } from "../../app/ports/cyclecloud.ts";
import type { NodeAttributes } from "../../domain/demand.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { arrayName } from "../../domain/ids.ts";
import { isObject, readAttribute, readList } from "./read-fields.ts";
import { arrayNameOf } from "./read-nodearray.ts";

/** Holds the Configuration of each node array of one status in a private member that nothing stores, logs or prints. */
class StatusTemplates implements ArrayTemplates {
  readonly #configurations: ReadonlyMap<ArrayName, NodeAttributes>;

  constructor(configurations: ReadonlyMap<ArrayName, NodeAttributes>) {
    this.#configurations = configurations;
  }

  configurationOf(array: ArrayName): NodeAttributes | undefined {
    return this.#configurations.get(array);
  }
}

/** Reads `nodearrays[].nodearray.Configuration` of a status (cyclecloud-wire.md A.3). Arrays without one are missing here. */
export function readTemplates(status: unknown): ArrayTemplates {
  const configurations = new Map<ArrayName, NodeAttributes>();
  for (const element of readList(isObject(status) ? status["nodearrays"] : undefined)) {
    if (!isObject(element)) continue;
    const record = isObject(element["nodearray"]) ? element["nodearray"] : {};
    const name = arrayNameOf(element, record);
    const configuration = readAttribute(record, "Configuration");
    if (name !== undefined && isObject(configuration)) configurations.set(arrayName(name), configuration);
  }
  return new StatusTemplates(configurations);
}
