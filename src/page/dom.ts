import { showText } from "../domain/shown.ts";

/** What stands in an element: texts are shown as text, whatever they say. */
export type Content = Node | string | number | undefined;

interface Properties {
  readonly class?: string;
  readonly title?: string;
  readonly role?: string;
  readonly label?: string;
  /** A place on this page. */
  readonly href?: `#${string}`;
  /** In percent of what is around it. */
  readonly width?: number;
  readonly onclick?: () => void;
}

/** An element with its content. Characters that act on what is around them are shown as codes. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties | string,
  ...content: readonly Content[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  const { title, role, label, href, width, onclick, ...rest } =
    typeof properties === "string" ? { class: properties } : properties;
  if (rest.class !== undefined && rest.class !== "") element.className = rest.class;
  if (title !== undefined) element.title = showText(title);
  if (role !== undefined) element.setAttribute("role", role);
  if (label !== undefined) element.setAttribute("aria-label", showText(label));
  if (href !== undefined) element.setAttribute("href", href);
  if (width !== undefined) element.style.width = `${width}%`;
  if (onclick !== undefined) element.addEventListener("click", onclick);
  fill(element, ...content);
  return element;
}

/** Replaces what stands in an element. Who was on a link there by keyboard is on the one in its place. */
export function fill(element: HTMLElement, ...content: readonly Content[]): void {
  const focused = element.contains(document.activeElement) ? document.activeElement : undefined;
  const places = () => [...element.querySelectorAll<HTMLElement>("a, button")];
  const at = focused === undefined ? -1 : places().findIndex((place) => place === focused);
  element.replaceChildren(...content.flatMap(nodeOf));
  if (at >= 0) places()[at]?.focus();
}

function nodeOf(content: Content): readonly (Node | string)[] {
  if (content === undefined) return [];
  return [content instanceof Node ? content : showText(String(content))];
}

/** A heading with what belongs to it. */
export function section(title: string, ...content: readonly Content[]): HTMLElement {
  return h("section", "", h("h2", "", title), ...content);
}
