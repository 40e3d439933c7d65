/** The deployable package: a folder with package.json (naming the bundled entry), host.json and the bundle. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { readHostJson } from "./host-json.ts";

/** The description of a package folder. `hostJson` is the parsed host.json, which was checked. */
type Package = { readonly entry: string; readonly hostJson: unknown };

const packageJson = z.object({ main: z.string() });

/** Reads a package folder, without loading its code. Throws if a file is missing or cannot be used. */
export async function readPackage(folder: string): Promise<Package> {
  const json = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(path.join(folder, name), "utf8"));
  const { main } = packageJson.parse(await json("package.json"));
  const hostJson = await json("host.json");
  readHostJson(hostJson);
  return { entry: path.join(folder, main), hostJson };
}
