import uPlot from "uplot";
import type { Seconds } from "../domain/units.ts";
import { h } from "./dom.ts";

/** A line of a plot. Lines differ in colour and in their dashes, so that they can be told apart without colours. */
export interface Line {
  readonly name: string;
  /** A variable of the style. */
  readonly colour: `--${string}`;
  readonly dash?: readonly number[];
  /** Fills the room below the line. */
  readonly filled?: true;
  /** It is only seen if it is not far above the others. */
  readonly aside?: true;
  readonly values: readonly (number | null)[];
  /** Fills the room down to the next line of the list, and is told as what it adds to it: these values. */
  readonly adds?: readonly number[];
}

const HEIGHT = 220;
const { stepped } = uPlot.paths;

/**
 * Draws lines over time in an element, in place of `last`. `times` are in seconds since 1970, rising.
 */
export function drawPlot(
  last: uPlot | undefined,
  element: HTMLElement,
  label: string,
  times: readonly number[],
  lines: readonly Line[],
): uPlot {
  last?.destroy();
  const rule = { stroke: colourOf("var(--rule)"), width: 1 };
  const axis = { stroke: colourOf("var(--text)"), grid: rule, ticks: rule };
  const frame = h("div", { role: "img", label });
  element.replaceChildren(frame);
  const options: uPlot.Options = {
    width: Math.max(280, element.clientWidth),
    height: HEIGHT,
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
    cursor: { drag: { x: false, y: false } },
    scales: { y: { range: [0, topOf(lines)] } },
    axes: [
      { ...axis, values: (_plot, places, _axis, _space, step) => places.map((at) => timeText(at, step)) },
      { ...axis, size: 56 },
    ],
    series: [{ value: "{YYYY}-{MM}-{DD} {HH}:{mm} UTC" }, ...lines.map(seriesOf)],
    bands: lines.flatMap(({ adds }, at) =>
      adds === undefined || at + 1 === lines.length ? [] : [{ series: [at + 1, at + 2] }],
    ),
  };
  return new uPlot(options, [[...times], ...lines.map(({ values }) => [...values])], frame);
}

function seriesOf({ name, colour, dash, filled, adds }: Line): uPlot.Series {
  return {
    label: name,
    stroke: colourOf(`var(${colour})`),
    width: 2,
    points: { show: false },
    // What was seen holds until it is seen again.
    ...(stepped === undefined ? {} : { paths: stepped({ align: 1 }) }),
    ...(dash === undefined ? {} : { dash: [...dash] }),
    ...(filled === undefined && adds === undefined
      ? {}
      : {
          fill: colourOf(`color-mix(in srgb, var(${colour}) ${adds === undefined ? 25 : 60}%, transparent)`),
        }),
    ...(adds === undefined
      ? {}
      : { value: (_plot, _top, _line, at) => (at === null ? "--" : String(round(adds[at] ?? 0))) }),
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** A line aside that is this many times as high as the others would leave no room for them. */
const FAR = 2;

function topOf(lines: readonly Line[]): number {
  const most = mostOf(lines.filter(({ aside }) => aside === undefined));
  const all = mostOf(lines);
  return 1.05 * Math.max(1, all <= FAR * most ? all : most);
}

const mostOf = (lines: readonly Line[]): number =>
  lines.reduce(
    (most, { values }) => values.reduce<number>((top, value) => Math.max(top, value ?? 0), most),
    0,
  );

const DAY: Seconds = 86_400;

/** A place of the axis in UTC: its day where places are days apart, else its time, and the day at midnight. */
function timeText(at: number, step: Seconds): string {
  const text = new Date(at * 1000).toISOString();
  return step >= DAY || at % DAY === 0 ? text.slice(5, 10) : text.slice(11, 16);
}

/** A colour of the style, in the theme of now, as a canvas takes it. */
function colourOf(value: string): string {
  const probe = h("span", "");
  probe.style.color = value;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
