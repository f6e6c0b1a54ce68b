import { promisify } from 'node:util'
import { gunzip, gzip, gzipSync } from 'node:zlib'

const zip = promisify(gzip)
const unzip = promisify(gunzip)

/** As `data` of a record. */
export const packed = (value: unknown): string => gzipSync(JSON.stringify(value)).toString('base64')

/** As `data` of one or more records, in a thread of Node.js's. */
export const packedLong = async (text: string): Promise<string> => (await zip(text)).toString('base64')

export const unpackedText = async (data: string): Promise<string> =>
  (await unzip(Buffer.from(data, 'base64'))).toString('utf8')

/** @throws Error when it is not what `packed` returned */
export const unpacked = async (data: string): Promise<unknown> => JSON.parse(await unpackedText(data)) as unknown
