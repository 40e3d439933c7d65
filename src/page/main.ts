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

const VIEWS: Readonly<Record<string, { readonly title: string; readonly create: () => View }>> = {
  now: { title: "Now", create: createNow },
  demand: { title: "Demand", create: createDemand },
  nodes: { title: "Nodes", create: createNodes },
  capacity: { title: "Capacity", create: createCapacity },
  history: { title: "History", create: createHistory },
};

const REFRESH_MS = 15_000;

const header = h("header", "");
const notice = h("p", { class: "notice", role: "alert" });
const main = h("main", "");
notice.hidden = true;

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
    ({ clusters } = await asked.clusters());
    const place = currentPlace();
    if (mine !== turn) return;
    if (place === undefined) {
      fill(main, h("p", "sentence", "This app serves no clusters: AUTOSCALER_CLUSTERS is empty."));
    } else {
      const view = viewOf(place);
      await view.refresh(asked, place);
      if (mine !== turn) return;
      if (!main.contains(view.element)) fill(main, view.element);
      shown = { place, view };
    }
    renderHeader(place, asked.now);
    say(undefined);
  } catch (error) {
    if (mine !== turn) return;
    if (!(error instanceof NoAnswer)) throw error;
    if (error.needsKey) {
      keepKey(undefined);
      return askForKey(error.message);
    }
    say(error.message);
    if (main.childElementCount === 0) fill(main, h("p", "sentence", "Nothing could be read yet."));
  } finally {
    if (mine === turn && api !== undefined) timer = setTimeout(() => void refresh(), REFRESH_MS);
  }
}

function currentPlace(): Place | undefined {
  const place = placeOf(location.hash);
  if (place !== undefined && VIEWS[place.view] !== undefined) return place;
  const [first] = clusters;
  if (first === undefined) return undefined;
  history.replaceState(undefined, "", addressOf(first.cluster, "now"));
  return placeOf(location.hash);
}

/** The view that is shown, if it is of this kind and cluster: its user's filters stay. Otherwise a new one. */
function viewOf(place: Place): View {
  const isSame = shown?.place.view === place.view && shown.place.cluster === place.cluster;
  if (isSame && shown !== undefined) return shown.view;
  return (VIEWS[place.view]?.create ?? createNow)();
}

function renderHeader(place: Place | undefined, now: string): void {
  document.title =
    place === undefined ? "CycleCloud autoscaler" : `${place.cluster}: ${VIEWS[place.view]?.title}`;
  const link = (cluster: string, view: string, text: string, isHere: boolean) => {
    const anchor = h("a", { href: addressOf(cluster, view) }, text);
    if (isHere) anchor.setAttribute("aria-current", "page");
    return anchor;
  };
  const of = place?.cluster ?? "";
  const others = clusters.map(({ cluster, health }) =>
    link(cluster, place?.view ?? "now", health.ok ? cluster : `${cluster} (!)`, cluster === of),
  );
  const views = Object.entries(VIEWS).map(([view, { title }]) => link(of, view, title, view === place?.view));
  fill(
    header,
    h("strong", "", "CycleCloud autoscaler"),
    h("nav", { label: "Clusters" }, ...others),
    h("nav", { label: "Views", class: "views" }, ...(place === undefined ? [] : views)),
    h("span", "quiet", `as of ${now.slice(0, 19).replace("T", " ")} UTC`),
    h("button", { onclick: leave }, "Sign out"),
  );
}

document.body.replaceChildren(header, notice, main);
document.addEventListener("visibilitychange", () => void refresh());
addEventListener("hashchange", () => {
  const found = keyInAddress();
  if (found.kind === "key") return enter(found.key);
  say(found.why);
  void refresh();
});
const found = keyInAddress();
const key = found.kind === "key" ? found.key : keptKey();
if (key === undefined) askForKey(found.why);
else {
  enter(key);
  say(found.why);
}
