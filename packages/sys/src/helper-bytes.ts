/** Bytes as they travel in the helper's JSON lines. */
export const base64 = (data: Uint8Array): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')

/** @param text base64; nothing: no bytes */
export const bytes = (text: unknown): Uint8Array => Buffer.from((text as string | undefined) ?? '', 'base64')
