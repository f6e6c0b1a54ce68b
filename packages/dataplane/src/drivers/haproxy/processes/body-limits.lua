-- Refuses bodies that are longer than a route or a class allows (see body-limits.ts and request-sizes.ts), and answers
-- requests whose body has not arrived completely.

-- Many clients read the answer only after they have sent the body, and never if the connection is reset before. So at
-- most this many bytes more are read and thrown away.
local MOST_DRAINED = 16777216

local function drain(applet)
  local read = 0
  while read < MOST_DRAINED do
    local part = applet:receive(16384)
    if part == nil or #part == 0 then return end
    read = read + #part
  end
end

-- Answers a request whose body is still arriving. Over HTTP/1 it answers at once and reads on afterwards. Over HTTP/2
-- it reads first, since HAProxy resets a stream that is answered before its end, and the client loses the answer.
-- Headers are pairs of name and value. A global, since `authorizers.lua` calls it.
function answer_unread(applet, status, headers, body)
  local is_at_once = applet.f:fc_http_major() == 1
  if not is_at_once then drain(applet) end
  applet:set_status(status)
  for _, header in ipairs(headers) do applet:add_header(header[1], header[2]) end
  applet:add_header("content-length", tostring(#body))
  applet:add_header("connection", "close")
  applet:start_response()
  applet:send(body)
  if is_at_once then drain(applet) end
end

-- For `answered-early.ts`.
core.register_service("answer_early", "http", function(applet)
  local status, name, value = applet:get_var("txn.early"):match("^(%d+)|?([^|]*)|?(.*)$")
  answer_unread(applet, tonumber(status), name == "" and {} or { { name, value } }, "")
end)

core.register_service("too_large", "http", function(applet) answer_unread(applet, 413, {}, "") end)

-- A filter that counts the bytes of a body. Beyond the limit it passes nothing on, and the message never ends for the
-- member. The limit is the filter's argument, or `txn.body`. It skips bodies with a declared length (`txn.told`), which
-- a rule has checked.
local Count = { id = "spout-count-body", flags = filter.FLT_CFG_FL_HTX }
Count.__index = Count
function Count:new() return setmetatable({}, { __index = self }) end
function Count:http_headers(txn, message)
  if message:is_resp() or txn:get_var("txn.told") then return end
  self.left = self.most or tonumber(txn:get_var("txn.body"))
  filter.register_data_filter(self, message.channel)
end
function Count:http_payload(txn, message)
  local length = message:input()
  -- `input` also counts trailers and the mark of their end. So the body itself is measured if the sum is too much.
  if length > self.left then length = #(message:body() or "") end
  self.left = self.left - length
  if self.left >= 0 then return end
  txn:set_var("txn.over", true)
  -- HAProxy has no other way to end a request here. As a daemon it does not print the error.
  if self.left < -MOST_DRAINED then error("the body is too large") end
  if message:input() > 0 then message:remove() end
end
function Count:http_end(_, message)
  if not message:is_resp() and self.left and self.left < 0 then return filter.ERROR end
end
core.register_filter("count_body", Count, function(class, arguments)
  class.most = tonumber(arguments[1])
  return class
end)
