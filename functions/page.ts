import type { HttpRequest } from "@azure/functions";
import type { PageStart } from "../src/app/describe/pages.ts";
import { PAGE_EXPECTED, readPage } from "../src/app/describe/pages.ts";
import type { Problem } from "../src/domain/demand.ts";
import { problemAt } from "../src/wire/json/problem.ts";

/** The requested page of an answer. Without `start` the first one. */
type Asked =
  | { readonly kind: "page"; readonly start?: PageStart }
  | { readonly kind: "problem"; readonly problem: Problem };

/** Reads the parameter `page`. */
export function pageOf({ query }: HttpRequest): Asked {
  const text = query.get("page");
  if (text === null) return { kind: "page" };
  const start = readPage(text);
  return start === undefined
    ? { kind: "problem", problem: problemAt("page", text, PAGE_EXPECTED) }
    : { kind: "page", start };
}
