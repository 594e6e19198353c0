"""Makes two tiny networks for tests: a detector that takes red squares for faces, and an embedder of mean colours.

`pip install onnx numpy`, then `python make.py` beside this file. A face is a square of 96 pixels whose middle third is
pure red and lies on a cell of 32 pixels; what is drawn around the middle says who it is.
"""

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

ARCFACE = [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]
BOX = 96


def detector():
    nodes, weights, outputs = [], [], []
    points = [(16 - BOX / 2 + value * BOX / 112) / 32 for point in ARCFACE for value in point]
    bounds = [0.5, 0.5, np.log(BOX / 32), np.log(BOX / 32)]
    for stride in (8, 16, 32):
        nodes.append(helper.make_node("AveragePool", ["input"], [f"mean_{stride}"], kernel_shape=[stride] * 2, strides=[stride] * 2))
        # Planes are blue, green and red; only the coarsest level sees anything.
        red = [0, -1 / 255, 1 / 255] if stride == 32 else [0, 0, 0]
        for kind, weight, bias in [
            ("cls", [red], [0]),
            ("obj", [red], [0]),
            ("bbox", np.zeros((4, 3)), bounds),
            ("kps", np.zeros((10, 3)), points),
        ]:
            name, n = f"{kind}_{stride}", len(bias)
            kernel = np.array(weight, np.float32).reshape(n, 3, 1, 1)
            weights.append(numpy_helper.from_array(kernel, f"w_{name}"))
            weights.append(numpy_helper.from_array(np.array(bias, np.float32), f"b_{name}"))
            weights.append(numpy_helper.from_array(np.array([1, -1, n], np.int64), f"s_{name}"))
            nodes.append(helper.make_node("Conv", [f"mean_{stride}", f"w_{name}", f"b_{name}"], [f"c_{name}"], kernel_shape=[1, 1], strides=[1, 1]))
            nodes.append(helper.make_node("Transpose", [f"c_{name}"], [f"t_{name}"], perm=[0, 2, 3, 1]))
            nodes.append(helper.make_node("Reshape", [f"t_{name}", f"s_{name}"], [name]))
            outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, None, n]))
    return nodes, helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 3, "height", "width"]), outputs, weights


def embedder():
    shape = numpy_helper.from_array(np.array([1, 48], np.int64), "shape")
    nodes = [
        helper.make_node("AveragePool", ["data"], ["mean"], kernel_shape=[28, 28], strides=[28, 28]),
        helper.make_node("Reshape", ["mean", "shape"], ["embedding"]),
    ]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [1, 48])
    return nodes, helper.make_tensor_value_info("data", TensorProto.FLOAT, [1, 3, 112, 112]), [output], [shape]


for name, (nodes, data, outputs, weights) in [("detector", detector()), ("embedder", embedder())]:
    graph = helper.make_graph(nodes, name, [data], outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    save(model, f"{name}.onnx")
