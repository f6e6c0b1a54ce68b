import { z } from 'zod'

/** A section of the configuration: a field that is not known is refused. */
export const section = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape)
/** 0: any free one. */
export const tcpPort = z.number().int().min(0).max(65535)
