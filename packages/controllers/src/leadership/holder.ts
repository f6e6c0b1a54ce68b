/** How a process is named in a lease: by a name that no other has, and by where the others reach it, if they do. */
export const holderOf = (name: string, url: string): string => (url === '' ? name : `${name} ${url}`)

/** Where the others reach the holder of a lease; null if it did not say. */
export const urlOfHolder = (holder: string): string | null => /^\S+ (https:\/\/\S+)$/.exec(holder)?.[1] ?? null
