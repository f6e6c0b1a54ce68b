-- The parts of requests that the proxy itself makes because of a client's request: copies (`mirrors.lua`) and questions
-- (`authorizers.lua`). They go to a frontend of the process (`mirrors.ts`), which passes each to the backend that a
-- header names. Loaded before the programs that use this global.
own_requests = { socket = "unix@/mirrors" }

-- Headers that are not copied from the client's request: those of its connection (RFC 9110 section 7.6.1), and those
-- that are written anew.
local LEFT_OUT = {}
for _, name in ipairs({
  "connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
  "upgrade", "x-spout-mirror", "x-spout-sni", "x-spout-way",
}) do LEFT_OUT[name] = true end
function own_requests.is_left_out(name) return LEFT_OUT[name] == true end

-- Methods whose requests have no body unless they declare its length.
local WITHOUT_BODY = { GET = true, HEAD = true, DELETE = true, OPTIONS = true, TRACE = true }
function own_requests.has_no_body(method) return WITHOUT_BODY[method] == true end

-- The PROXY header that a request begins with. By it the backend knows the client's address.
function own_requests.proxy_line(f)
  local source, destination = f:src(), f:dst()
  if source == nil or destination == nil then return "PROXY UNKNOWN\r\n" end
  local family = source:find(":", 1, true) == nil and "TCP4" or "TCP6"
  return ("PROXY %s %s %s %d %d\r\n"):format(family, source, destination, f:src_port(), f:dst_port())
end

function own_requests.backend_line(backend) return "x-spout-mirror: " .. backend end

-- The header with the name that the client asked for by SNI; nil if it asked for none.
function own_requests.name_line(txn)
  local name = txn:get_var("sess.sni")
  return name ~= nil and "x-spout-sni: " .. name or nil
end
