const ID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const LAST_PART = new RegExp(`(?:^|/)(${ID})/?$`)

/** The id at the end of a reference, whatever its host: clients may reach the server by another name. Null: none. */
export const idIn = (reference: string): string | null => LAST_PART.exec(reference)?.[1] ?? null

/** @param base the server's URL for this client */
export const secretRef = (base: string, id: string): string => `${base}/key-manager/v1/secrets/${id}`
export const containerRef = (base: string, id: string): string => `${base}/key-manager/v1/containers/${id}`
