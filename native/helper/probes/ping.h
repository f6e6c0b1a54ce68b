#pragma once

struct helper;

void ping_open(struct helper *helper);
