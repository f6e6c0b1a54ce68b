import type { FastifyRequest } from 'fastify'

/** Where clients reach this server, without a slash at the end. */
export type BaseUrl = (request: FastifyRequest) => string

/**
 * The configured URL, or the address by which the client itself called the server (only that client sees the answer).
 */
export const baseUrl =
  (configured: string | null): BaseUrl =>
  (request) =>
    configured?.replace(/\/+$/, '') ?? `${request.protocol}://${request.host}`
