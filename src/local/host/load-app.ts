/** Loads a function app into this process and collects the functions that it registers. */
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { installCore, type Registry } from "./core.ts";
import { triggerOf } from "./runtime.ts";

/** How to load an app: the path of its entry (.ts, .js, .mjs or .cjs), or a function that imports it. */
export type AppSource = string | (() => Promise<unknown>);

/** A registered function, by its name and its trigger's type, such as "queueTrigger". */
export type FunctionSummary = { readonly name: string; readonly trigger: string };

/** Imports the app and returns its registrations. Throws if there are none, for which Azure only reports "no functions found". */
export async function loadApp(app: AppSource): Promise<Registry> {
  const registry = installCore();
  if (typeof app === "function") await app();
  else if (app.endsWith(".cjs")) createRequire(import.meta.url)(path.resolve(app));
  else await import(/* @vite-ignore */ pathToFileURL(path.resolve(app)).href);
  if (registry.functions.size === 0 || registry.model === undefined) {
    throw new Error("the app registered no functions; was @azure/functions loaded before the host?");
  }
  return registry;
}

/** The registered functions, by name. */
export function listFunctions(registry: Registry): readonly FunctionSummary[] {
  return [...registry.functions.values()]
    .map(({ metadata }) => ({ name: metadata.name, trigger: triggerOf(metadata).binding.type }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
