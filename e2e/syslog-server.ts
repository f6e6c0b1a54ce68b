import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type Daemon, environmentOf, type Lab, type PlaceName, unpackedPackages } from '@spout/testkit'

/** What it shows to senders over TLS, and the authorities that theirs must be from. */
export interface SyslogServerTls {
  readonly certificate: string
  readonly key: string
  readonly authorities: string
}

/**
 * Debian's rsyslog 8.2302 in a place of the lab, on port 514 of UDP, and of TCP or, if it is given certificates, TLS.
 * The first start in a checkout downloads it.
 */
export class SyslogServer {
  readonly #lab: Lab
  readonly #place: PlaceName
  readonly #file: string
  #daemon: Daemon | null = null

  constructor(lab: Lab, place: PlaceName) {
    this.#lab = lab
    this.#place = place
    this.#file = path.join(lab.directory, `syslog-${place}.txt`)
    writeFileSync(this.#file, '')
  }

  /** @param tls senders must show a certificate. Default: no TLS */
  async start(tls: SyslogServerTls | null = null): Promise<void> {
    const root = await unpackedPackages('rsyslog-tls', ['rsyslog', 'rsyslog-gnutls'])
    const configuration = path.join(this.#lab.directory, `syslog-${this.#place}.conf`)
    // A message is read as RFC 5424 only if its version is 1.
    const shown =
      '%protocol-version% %pri% %timestamp:::date-rfc3339% %hostname% %app-name% %msgid% %fromhost-ip% %msg%'
    writeFileSync(
      configuration,
      `global(maxMessageSize="64k" net.enableDNS="off" workDirectory="${this.#lab.directory}"${tls === null ? '' : this.#files(tls)})
module(load="imudp")
module(load="imtcp"${tls === null ? '' : ' StreamDriver.Name="gtls" StreamDriver.Mode="1" StreamDriver.AuthMode="x509/certvalid"'})
input(type="imudp" port="514")
input(type="imtcp" port="514")
template(name="shown" type="string" string="${shown}\\n")
action(type="omfile" file="${this.#file}" template="shown")
`,
    )
    const modules = path.join(root, 'usr/lib/x86_64-linux-gnu/rsyslog')
    const pid = path.join(this.#lab.directory, `syslog-${this.#place}.pid`)
    const argv = [path.join(root, 'usr/sbin/rsyslogd'), '-n', '-f', configuration, '-i', pid, '-M', modules]
    this.#daemon = await this.#lab.start(this.#place, `rsyslogd-${this.#place}`, argv, { env: environmentOf(root) })
  }

  /** Writes them, and names them for the configuration. */
  #files(tls: SyslogServerTls): string {
    const file = (name: string, text: string): string => {
      const at = path.join(this.#lab.directory, `syslog-${this.#place}-${name}.pem`)
      writeFileSync(at, text)
      return at
    }
    const [ca, certificate, key] = [file('ca', tls.authorities), file('crt', tls.certificate), file('key', tls.key)]
    return ` defaultNetstreamDriverCAFile="${ca}" defaultNetstreamDriverCertFile="${certificate}" defaultNetstreamDriverKeyFile="${key}"`
  }

  async stop(): Promise<void> {
    if (this.#daemon !== null) await this.#lab.stop(this.#daemon)
    this.#daemon = null
  }

  /** What it got, a line for each message: version, priority, time, host, program, id, sender and text. */
  lines(): readonly string[] {
    return readFileSync(this.#file, 'utf8').split('\n').slice(0, -1)
  }
}
