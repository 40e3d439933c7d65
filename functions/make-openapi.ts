/** `npm run openapi`: writes functions/openapi.json, which GET /api/openapi.json answers, from the schemas in src/wire/api/. */
import { writeFile } from "node:fs/promises";
import { describeApi } from "../src/wire/api/document.ts";

await writeFile(new URL("openapi.json", import.meta.url), `${JSON.stringify(describeApi(), undefined, 1)}\n`);
