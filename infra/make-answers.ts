/**
 * Part of `npm run openapi`: writes src/client/answers.ts, the types of the API's answers, from functions/openapi.json (docs/decisions.md,
 * "The schema describes each answer once").
 */
import { readFile, writeFile } from "node:fs/promises";
import { describeAnswers } from "./describe-answers.ts";

const document = await readFile(new URL("../functions/openapi.json", import.meta.url), "utf8");
await writeFile(new URL("../src/client/answers.ts", import.meta.url), await describeAnswers(document));
