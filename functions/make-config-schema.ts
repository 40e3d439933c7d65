/** Part of `npm run openapi`: writes docs/configuration.schema.json, by which editors check a cluster's configuration. */
import { writeFile } from "node:fs/promises";
import { describeConfig } from "../src/wire/config-schema.ts";

const file = new URL("../docs/configuration.schema.json", import.meta.url);
await writeFile(file, `${JSON.stringify(describeConfig(), undefined, 1)}\n`);
