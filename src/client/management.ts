import { z } from "zod";
import type { Answer } from "./answer.ts";
import { callWith } from "./call.ts";
import { tooManyPages } from "./pages.ts";
import type { Seconds } from "../domain/units.ts";

/** A function as Azure, or the host, lists it. */
export interface ListedFunction {
  readonly name: string;
  readonly isDisabled: boolean;
}

/** The listed functions, or the answer that is not a list. */
export type FunctionList =
  | { readonly kind: "listed"; readonly functions: readonly ListedFunction[] }
  | { readonly kind: "no-list"; readonly answer: Answer };

/** The part of Azure's management API about the triggers that the platform knows of one function app. */
export interface ManagementApi {
  list(): Promise<FunctionList>;
  /** Asks the platform to read the app's triggers again. */
  sync(): Promise<Answer>;
  /** The host key, which opens every function except the host's own, or the answer that does not contain it. */
  hostKey(): Promise<
    { readonly kind: "key"; readonly key: string } | { readonly kind: "no-key"; readonly answer: Answer }
  >;
}

/** Of the resource type Microsoft.Web/sites. */
const VERSION = "2024-11-01";
const TOKEN_WAIT_SECONDS: Seconds = 60;
/** An app has some dozens of functions. */
const MOST_PAGES = 100;

/**
 * Opens the management API for the function app with this resource id. `token` returns a token of the signed-in identity; its rejection is
 * passed on. The token is sent only to `url`.
 */
export function openManagement(url: string, resourceId: string, token: () => Promise<string>): ManagementApi {
  const call = async (method: "GET" | "POST", path: string, query: Readonly<Record<string, string>>) =>
    callWith(
      url,
      { method, path, query, seconds: TOKEN_WAIT_SECONDS },
      { authorization: `Bearer ${await token()}` },
    );
  return {
    async list() {
      const functions: ListedFunction[] = [];
      let page: Page = { path: `${resourceId}/functions`, query: { "api-version": VERSION } };
      for (let pages = 1; ; pages += 1) {
        const answer = await call("GET", page.path, page.query);
        const read = answer.kind === "answered" ? armList.safeParse(answer.body) : undefined;
        if (read?.success !== true) return { kind: "no-list", answer };
        functions.push(...read.data.value.map(nameOf));
        const next = nextPage(url, read.data.nextLink);
        if (next === undefined) return { kind: "listed", functions };
        if (pages === MOST_PAGES) return { kind: "no-list", answer: tooManyPages(MOST_PAGES) };
        page = next;
      }
    },
    sync: () => call("POST", `${resourceId}/host/default/sync`, { "api-version": VERSION }),
    async hostKey() {
      const path = `${resourceId}/host/default/listkeys`;
      const answer = await call("POST", path, { "api-version": VERSION });
      const read = answer.kind === "answered" ? armKeys.safeParse(answer.body) : undefined;
      const [key] = Object.values(read?.data?.functionKeys ?? {});
      return key === undefined ? { kind: "no-key", answer } : { kind: "key", key };
    },
  };
}

/** The host's own list. It requires the master key, in Azure and locally. */
export async function listHostFunctions(url: string, masterKey: string): Promise<FunctionList> {
  const call = { method: "GET", path: "/admin/functions" } as const;
  const answer = await callWith(url, call, { "x-functions-key": masterKey });
  const read = answer.kind === "answered" ? hostList.safeParse(answer.body) : undefined;
  return read?.success === true ? { kind: "listed", functions: read.data } : { kind: "no-list", answer };
}

interface Page {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

/** Only at the same address, because the token would be sent along. */
function nextPage(url: string, link: string | undefined | null): Page | undefined {
  if (link === undefined || link === null || !URL.canParse(link)) return undefined;
  const next = new URL(link);
  if (next.origin !== new URL(url).origin) return undefined;
  return { path: next.pathname, query: Object.fromEntries(next.searchParams) };
}

const armList = z.object({
  value: z.array(
    z.object({
      name: z.string(),
      properties: z.object({ name: z.string().optional(), isDisabled: z.boolean().nullish() }).optional(),
    }),
  ),
  nextLink: z.string().nullish(),
});

const armKeys = z.object({ functionKeys: z.record(z.string(), z.string()) });

const hostList = z.array(z.object({ name: z.string(), isDisabled: z.boolean().default(false) }));

/** The resource manager names a function "app/function". */
function nameOf({ name, properties }: z.infer<typeof armList>["value"][number]): ListedFunction {
  return {
    name: properties?.name ?? name.slice(name.lastIndexOf("/") + 1),
    isDisabled: properties?.isDisabled ?? false,
  };
}
