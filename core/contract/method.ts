/** The methods that a manifest may declare and a provider may receive. HEAD is served by the GET route. */
export const MODULE_HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** One of {@link MODULE_HTTP_METHODS}, in upper case. */
export type Method = (typeof MODULE_HTTP_METHODS)[number];
