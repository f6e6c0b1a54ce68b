/** What the map `backend` says of a frontend that has routes, and of one whose hosts need looking up by label, too. */
export const ROUTED = { named: 'routes', wildcards: 'routes-wildcards' } as const
