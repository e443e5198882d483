import { computed, signal } from '@preact/signals';
import { API, CONSOLE } from '../paths.js';

const url = signal(new URL(location.href));

/** The decoded segments below `/console`: `['modules', 'acme/crm']`. */
export const segments = computed(() =>
  url.value.pathname
    .slice(CONSOLE.length)
    .split('/')
    .filter((segment) => segment !== '')
    .map(decode),
);

export const query = computed(() => url.value.searchParams);

function navigate(href: string, { replace = false } = {}): void {
  const next = new URL(href, location.href);
  if (next.href === url.value.href) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', next);
  const isOtherPage = next.pathname !== url.value.pathname;
  url.value = next;
  if (isOtherPage) scrollTo(0, 0);
}

/** Changes the query of the page; `null` and `''` remove a name. */
export function setQuery(changes: Readonly<Record<string, string | null>>): void {
  const next = new URL(url.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.searchParams.delete(name);
    else next.searchParams.set(name, value);
  }
  navigate(next.href, { replace: true });
}

/** The path of a page of the console: `pathTo('modules', 'acme/crm')`. */
export function pathTo(...parts: readonly string[]): string {
  return [CONSOLE, ...parts.map(encodeURIComponent)].join('/');
}

/** The page that explains how the host decides about a request. */
export function pathToDecision(method: string, target: string): string {
  return `${pathTo('explain')}?${new URLSearchParams({ method, target })}`;
}

/** Returns a target of a route, with the names of its parameters as values. */
export function targetOf(module: string, route: string): string {
  const path = route.replace(/\{([A-Za-z0-9_-]+)(?:\.\.\.)?\}/g, '$1');
  return `/modules/${encodeURIComponent(module)}/http${path}`;
}

/** Makes links of the console change the page without loading it again. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    url.value = new URL(location.href);
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || event.defaultPrevented || !isPlainClick(event)) return;
    if (link.target !== '' || link.hasAttribute('download')) return;
    const { origin, pathname, href } = new URL(link.href, location.href);
    const isPage = pathname === CONSOLE || pathname.startsWith(`${CONSOLE}/`);
    if (origin !== location.origin || !isPage || pathname.startsWith(`${API}/`)) return;
    event.preventDefault();
    navigate(href);
  });
}

function isPlainClick(event: MouseEvent): boolean {
  const { button, ctrlKey, metaKey, shiftKey, altKey } = event;
  return button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
