/** More are dropped: Node.js throws and catches an error for each that is not UTF-8. */
const MAX_PARAMETERS = 100;

/** The URL of a request, with the parameters of its query that are read. */
export function parseUrl(text: string): URL {
  const url = new URL(text);
  const pairs = url.search.split('&', MAX_PARAMETERS + 1);
  if (pairs.length > MAX_PARAMETERS) url.search = pairs.slice(0, MAX_PARAMETERS).join('&');
  return url;
}
