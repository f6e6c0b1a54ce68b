import type { GatewayListener } from '../../objects/gateway.ts'

/** Whether a listener ends TLS with certificates of its own. Listeners of protocol TLS do so by default. */
export const endsTls = ({ protocol, tls }: GatewayListener): boolean =>
  protocol === 'HTTPS' || (protocol === 'TLS' && tls?.mode !== 'Passthrough')

/** Whether a listener passes TLS on to the backends. */
export const passesTls = (listener: GatewayListener): boolean => listener.protocol === 'TLS' && !endsTls(listener)
