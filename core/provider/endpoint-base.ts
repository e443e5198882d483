export interface EndpointBase {
  /** The origin as `URL` normalizes it: `https://crm.example`. */
  readonly origin: string;
  /** Empty, or a path without a trailing slash: `/api`. */
  readonly path: string;
}

/** http or https, without credentials, query and fragment. */
export function isBaseUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !/^https?:\/\/[^?#]+$/i.test(value)) return false;
  if (!URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
}

export function parseEndpointBase(url: string): EndpointBase {
  const { origin, pathname } = new URL(url);
  return { origin, path: pathname.replace(/\/+$/, '') };
}
