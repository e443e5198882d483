/** The methods that a manifest may declare and a provider may receive (contract 1). HEAD is served by GET. */
export const MODULE_HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof MODULE_HTTP_METHODS)[number];
