import type { Clusters } from "../client/answers.ts";
import { Api, NoAnswer } from "./api.ts";
import { createCapacity } from "./capacity.ts";
import { createDemand } from "./demand.ts";
import { fill, h } from "./dom.ts";
import { createHistory } from "./history.ts";
import { createNodes } from "./nodes.ts";
import { createNow } from "./now.ts";
import { keyInAddress, keepKey, keptKey, signIn } from "./sign-in.ts";
import type { Place } from "./place.ts";
import type { View } from "./view.ts";
import { addressOf, placeOf } from "./place.ts";

const VIEWS: ReadonlyMap<string, { readonly title: string; readonly create: () => View }> = new Map([
  ["now", { title: "Now", create: createNow }],
  ["demand", { title: "Demand", create: createDemand }],
  ["nodes", { title: "Nodes", create: createNodes }],
  ["capacity", { title: "Capacity", create: createCapacity }],
  ["history", { title: "History", create: createHistory }],
]);

const REFRESH_MS = 15_000;

const header = h("header", "");
const notice = h("p", { class: "notice", role: "alert" });
/** Stays until the tab is closed: of a key that stood in the address. */
const warning = h("p", { class: "notice", role: "alert" });
const main = h("main", "");
notice.hidden = true;
warning.hidden = true;

let api: Api | undefined;
let clusters: Clusters["clusters"] = [];
let shown: { readonly place: Place; readonly view: View } | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Rises with each refresh: one that was overtaken shows nothing any more. */
let turn = 0;

function say(text: string | undefined): void {
  notice.hidden = text === undefined;
  fill(notice, text);
}

function askForKey(why?: string): void {
  api = undefined;
  shown = undefined;
  clearTimeout(timer);
  fill(header, h("strong", "", "CycleCloud autoscaler"));
  fill(main, signIn(enter));
  say(why);
}

function enter(key: string): void {
  keepKey(key);
  api = new Api(key);
  say(undefined);
  void refresh();
}

function leave(): void {
  keepKey(undefined);
  askForKey("You are signed out: the key is forgotten.");
}

/** Shows the place that the address names, or the first cluster. */
async function refresh(): Promise<void> {
  clearTimeout(timer);
  const asked = api;
  if (asked === undefined || document.hidden) return;
  turn += 1;
  const mine = turn;
  try {
    await showPlace(asked, () => mine === turn);
  } catch (error) {
    if (mine !== turn) return;
    if (!(error instanceof NoAnswer)) throw error;
    if (error.needsKey) {
      keepKey(undefined);
      return askForKey(error.message);
    }
    say(error.message);
    const place = currentPlace();
    // What stays on the page is of the place that its address names.
    if (!isShown(place)) fill(main, h("p", "sentence", "Nothing could be read yet."));
    renderHeader(place, asked.now);
  } finally {
    if (mine === turn && api !== undefined) timer = setTimeout(() => void refresh(), REFRESH_MS);
  }
}

async function showPlace(asked: Api, isWanted: () => boolean): Promise<void> {
  ({ clusters } = await asked.clusters());
  const place = currentPlace();
  if (!isWanted()) return;
  if (place === undefined) {
    fill(main, h("p", "sentence", "This app serves no clusters: AUTOSCALER_CLUSTERS is empty."));
  } else {
    // One that is shown keeps the filters of its user.
    const view = isShown(place) && shown !== undefined ? shown.view : createView(place.view);
    await view.refresh(asked, place);
    if (!isWanted()) return;
    if (!main.contains(view.element)) fill(main, view.element);
    shown = { place, view };
  }
  renderHeader(place, asked.now);
  say(undefined);
}

/** Whether the view of this kind and cluster is on the page. */
function isShown(place: Place | undefined): boolean {
  if (place === undefined || shown === undefined || !main.contains(shown.view.element)) return false;
  return shown.place.view === place.view && shown.place.cluster === place.cluster;
}

function currentPlace(): Place | undefined {
  const place = placeOf(location.hash);
  if (place !== undefined && VIEWS.has(place.view)) return place;
  const [first] = clusters;
  if (first === undefined) return undefined;
  history.replaceState(undefined, "", addressOf(first.cluster, "now"));
  return placeOf(location.hash);
}

const createView = (name: string): View => (VIEWS.get(name)?.create ?? createNow)();

function renderHeader(place: Place | undefined, now: string): void {
  document.title =
    place === undefined ? "CycleCloud autoscaler" : `${place.cluster}: ${VIEWS.get(place.view)?.title}`;
  const link = (cluster: string, view: string, text: string, isHere: boolean) => {
    const anchor = h("a", { href: addressOf(cluster, view) }, text);
    if (isHere) anchor.setAttribute("aria-current", "page");
    return anchor;
  };
  const of = place?.cluster ?? "";
  const others = clusters.map(({ cluster, health }) =>
    link(cluster, place?.view ?? "now", health.ok ? cluster : `${cluster} (!)`, cluster === of),
  );
  const views = [...VIEWS].map(([view, { title }]) => link(of, view, title, view === place?.view));
  fill(
    header,
    h("strong", "", "CycleCloud autoscaler"),
    h("nav", { label: "Clusters" }, ...others),
    h("nav", { label: "Views", class: "views" }, ...(place === undefined ? [] : views)),
    h("span", "quiet", `as of ${now.slice(0, 19).replace("T", " ")} UTC`),
    h("button", { onclick: leave }, "Sign out"),
  );
}

/** Takes a key out of the address. Returns it if it may be used. */
function takeKey(): string | undefined {
  const found = keyInAddress();
  if (found.kind === "key") return found.key;
  if (found.why !== undefined) {
    fill(warning, found.why);
    warning.hidden = false;
  }
  return undefined;
}

document.body.replaceChildren(header, warning, notice, main);
document.addEventListener("visibilitychange", () => void refresh());
addEventListener("hashchange", () => {
  const key = takeKey();
  if (key === undefined) void refresh();
  else enter(key);
});
const key = takeKey() ?? keptKey();
if (key === undefined) askForKey();
else enter(key);
