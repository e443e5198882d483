"""Serves library.v1 with Python's grpcio, for tests: python library_server.py library.binpb"""

import sys
import threading
import time
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

pool = descriptor_pool.DescriptorPool()
with open(sys.argv[1], "rb") as file:
    for proto in descriptor_pb2.FileDescriptorSet.FromString(file.read()).file:
        pool.Add(proto)


def message(name):
    descriptor = pool.FindMessageTypeByName(name)
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


Everything = message("library.v1.Everything")
Failure = message("library.v1.Failure")
Struct = message("google.protobuf.Struct")
Empty = message("google.protobuf.Empty")
cancelled = threading.Event()


def fail(request, context):
    context.abort(list(grpc.StatusCode)[[c.value[0] for c in grpc.StatusCode].index(request.code)], request.message)


def many(request, context):
    context.add_callback(cancelled.set)
    context.send_initial_metadata((("x-first", "yes"),))
    for number in range(request.an_int32):
        yield Everything(an_int32=number + 1)
    while request.a_bool and context.is_active():
        time.sleep(0.01)


def metadata(_request, context):
    struct = Struct()
    json_format.ParseDict(
        {
            **{key: value for key, value in context.invocation_metadata() if isinstance(value, str)},
            "left": context.time_remaining(),
            "cancelled": cancelled.is_set(),
        },
        struct,
    )
    return struct


def handler(kind, function, request):
    return kind(
        function,
        request_deserializer=request.FromString,
        response_serializer=lambda each: each.SerializeToString(),
    )


unary = grpc.unary_unary_rpc_method_handler
server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
server.add_generic_rpc_handlers(
    (
        grpc.method_handlers_generic_handler(
            "library.v1.Echo",
            {
                "Echo": handler(unary, lambda request, _context: request, Everything),
                "Many": handler(grpc.unary_stream_rpc_method_handler, many, Everything),
                "Fail": handler(unary, fail, Failure),
                "Metadata": handler(unary, metadata, Empty),
            },
        ),
        # grpc.health.v1 as bytes: SERVING for the server, NOT_SERVING for each service.
        grpc.method_handlers_generic_handler(
            "grpc.health.v1.Health",
            {"Check": unary(lambda request, _context: b"\x08\x02" if request else b"\x08\x01")},
        ),
    )
)
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
server.wait_for_termination()
